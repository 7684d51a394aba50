/**
 * HTTP responses do not contain paths of this machine, even if something is wrong there.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ContentLayer from "../../../src/layers/fetching/Content.ts"
import * as RequestPacingMemory from "../../../src/layers/memory/RequestPacingMemory.ts"
import * as VersionStoreDisk from "../../../src/layers/versions/VersionStoreDisk.ts"
import { SourceError } from "../../../src/services/SourceError.ts"
import { withLog } from "../../support/logged.ts"
import * as transport from "../../support/transport.ts"

const allowedCommands = ["content.ack", "content.manifest.read", "content.fetch"]
const environment = Layer.mergeAll(RequestPacingMemory.layer, NodeHttpClient.layer).pipe(
  Layer.provideMerge(NodeContext.layer)
)

it.scoped("HTTP responses and event streams contain no folder of the machine, but the log does", () => {
  const lines: Array<string> = []
  return Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const directory = `${yield* fs.makeTempDirectoryScoped({ prefix: "My Exhibit " })}/downloads`
    const source = {
      id: "exhibits",
      issues: [],
      make: Effect.succeed({
        id: "exhibits",
        fetch: () =>
          new SourceError({
            source: "exhibits",
            cause: new Error(`Cannot read ${directory}/x/cut.json: it is cut.`)
          })
      })
    }
    const store = VersionStoreDisk.layer({ directory, keepVersions: 2, ackLease: "30 minutes" })
    yield* Effect.gen(function* () {
      const { received } = yield* transport.openEvents
      const send = (command: object) => transport.postCommand(JSON.stringify(command))
      const responses = [yield* send({ type: "content.fetch" })]
      const inTheWay = "nonsense"
      yield* fs.writeFileString(`${directory}/manifest.json`, inTheWay)
      responses.push(yield* send({ type: "content.manifest.read" }))
      expect(responses[1]?.body).toContain('"message":"manifest.json is no manifest')
      for (const folder of [".staging", "versions"]) {
        yield* fs.remove(`${directory}/${folder}`, { recursive: true, force: true })
        yield* fs.writeFileString(`${directory}/${folder}`, inTheWay)
      }
      responses.push(yield* send({ type: "content.fetch" }))
      responses.push(
        yield* send({ type: "content.ack", consumerId: "screen-1", versionId: "20260101T000000Z" }),
        yield* transport.request({ target: "/status" }),
        yield* transport.request({ target: "/state" })
      )
      const stream = yield* received.until((text) => text.split("event: content:fetch:error").length > 2)
      const said = [...responses.map(({ body }) => body), stream].join("\n")
      expect(said).toContain("…/cut.json: it is cut.")
      expect(said).not.toContain("My Exhibit")
      expect(said).not.toMatch(/(^|[\s"'(])\/(tmp|home|root|var)\//)
      expect(lines.join("\n")).toContain(`${directory}/x/cut.json`)
    }).pipe(
      Effect.provide(
        Layer.provideMerge(
          ContentLayer.layer({ sources: [source] }).pipe(Layer.provide(store)),
          transport.layer({ allowedCommands, exposeState: true })
        )
      )
    )
  }).pipe(Effect.provide(environment), withLog(lines))
})

it.scoped("a fetch that keeps failing is logged once, even if its files have generated names", () => {
  const lines: Array<string> = []
  let attempts = 0
  const source = {
    id: "exhibits",
    issues: [],
    make: Effect.succeed({
      id: "exhibits",
      fetch: () =>
        Effect.suspend(() => {
          const cause = new Error(
            `Cannot write to /srv/downloads/.staging/${++attempts}/Objects.json: the disk is full.`
          )
          return new SourceError({ source: "exhibits", cause })
        })
    })
  }
  return Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const directory = yield* fs.makeTempDirectoryScoped()
    const store = VersionStoreDisk.layer({ directory, keepVersions: 2, ackLease: "30 minutes" })
    yield* Effect.gen(function* () {
      for (let count = 0; count < 3; count++) {
        const { status } = yield* transport.postCommand('{"type":"content.fetch"}')
        expect(status).toBe(500)
      }
      expect(attempts).toBe(3)
      expect(lines.filter((line) => line.startsWith("WARN"))).toEqual([
        expect.stringContaining("/srv/downloads/.staging/1/Objects.json")
      ])
    }).pipe(
      Effect.provide(
        Layer.provideMerge(
          ContentLayer.layer({ sources: [source] }).pipe(Layer.provide(store)),
          transport.layer({ allowedCommands })
        )
      )
    )
  }).pipe(Effect.provide(environment), withLog(lines))
})
