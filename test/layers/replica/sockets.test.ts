/**
 * A replica over real sockets. Tests without them are in `Replica.test.ts`.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as HttpClient from "@effect/platform/HttpClient"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import { sha256OfText } from "../../../src/files/sha256.ts"
import * as ContentServer from "../../../src/layers/contentServer/ContentServer.ts"
import * as HttpClientNode from "../../../src/layers/httpClient/HttpClientNode.ts"
import { reaching } from "../../support/elsewhere.ts"
import { makeHub, readActive } from "../../support/hub.ts"
import { first, makeReplica } from "../../support/replica.ts"
import * as ScriptedServer from "../../support/ScriptedServer.ts"
import { hangUp, text } from "../../support/ScriptedServer.ts"
import { scenarios } from "../../support/scenario.ts"
import { memoryServices } from "../../support/transport.ts"

const services = Layer.merge(NodeContext.layer, HttpClientNode.layer)
const scenario = scenarios(services, Effect.void)
const live = scenarios(services, Effect.void, { isLive: true })
const environment = Effect.provide(services)

/** Begins to send the body, and closes the connection in the middle of it. */
const cutAfter =
  (content: string, bytes: number): ScriptedServer.Answer =>
  (response) => {
    response.writeHead(200, { "content-length": content.length })
    response.write(content.slice(0, bytes), () => setImmediate(() => response.destroy()))
  }

describe("a replica", () => {
  scenario("has the versions of its hub with the same ids and bytes", function* () {
    const hub = yield* makeHub
    const versionId = yield* hub.promote(first)
    const { active, fetch, parts } = yield* makeReplica(hub.url)
    expect(yield* fetch).toMatchObject({ changed: true, versionId, records: 5 })
    expect(yield* active).toEqual(yield* readActive(hub.directory))
    expect(yield* parts).toEqual([])
    expect(yield* fetch).toMatchObject({ changed: false, versionId, records: 5 })
  })

  scenario("removes nothing that lies behind a link in place of its unfinished downloads", function* () {
    const fs = yield* FileSystem.FileSystem
    const hub = yield* makeHub
    yield* hub.promote(first)
    const other = yield* fs.makeTempDirectoryScoped()
    yield* fs.writeFileString(`${other}/guide.txt`, "keep")
    const { failure, folder } = yield* makeReplica(hub.url)
    yield* fs.symlink(other, `${folder}/.partial`)
    expect(yield* failure).toContain(`Cannot use ${folder}/.partial: it is a link to ${other}`)
    expect(yield* fs.readDirectory(other)).toEqual(["guide.txt"])
  })

  scenario("resumes a download, even after the process ended in the middle of it", function* () {
    const fs = yield* FileSystem.FileSystem
    const hub = yield* makeHub
    const versionId = yield* hub.promote(first)
    const directory = yield* fs.makeTempDirectoryScoped()
    yield* Effect.gen(function* () {
      const { failure, parts } = yield* makeReplica(hub.url, { directory })
      // All four attempts break off.
      hub.fault(/films/, cutAfter("0123456789", 4), hangUp, hangUp, hangUp)
      expect(yield* failure).toContain(`versions/${versionId}/exhibits/films/copy.mp4: the connection`)
      expect(yield* parts).toContain(sha256OfText("0123456789"))
    }).pipe(Effect.scoped)
    hub.requests.length = 0
    const { active, fetch, parts } = yield* makeReplica(hub.url, { directory })
    yield* fetch
    const [request] = hub.requests.filter(({ path }) => path.includes("/films/"))
    expect(request).toMatchObject({ status: 206, bytes: 6 })
    expect(yield* active).toEqual(yield* readActive(hub.directory))
    expect(yield* parts).toEqual([])
  })

  const many = (edition: number) => ({
    exhibits: Object.fromEntries(
      Array.from({ length: 100 }, (_, index) => [
        `pictures/${index}.jpg`,
        `${index} ${index === 7 ? edition : 0}`
      ])
    )
  })

  live("receives less than 7 KiB in all for one changed file of 100", function* () {
    const hub = yield* makeHub
    const server = yield* Effect.provide(
      ContentServer.make({ downloadPath: hub.directory, port: 0 }),
      memoryServices()
    )
    const { port } = Option.getOrThrow(server.address)
    yield* hub.promote(many(1))
    const { active, fetchLive } = yield* makeReplica(`http://127.0.0.1:${port}`)
    yield* fetchLive
    const sent = Effect.map(server.statistics, ({ bytes, requests }) => ({ bytes, requests }))
    const before = yield* sent
    yield* hub.promote(many(2))
    expect(yield* fetchLive).toMatchObject({ changed: true })
    expect(yield* active).toEqual(yield* readActive(hub.directory))
    const after = yield* sent
    expect(after.requests - before.requests).toBe(4)
    expect(after.bytes - before.bytes).toBeLessThan(7 * 1024)
  })
})

describe("a hub", () => {
  it.scoped.each(["manifest.json", "files.json", "objects.json"])(
    "on another machine cannot redirect to services of this machine: %s",
    (name) =>
      Effect.gen(function* () {
        const hub = yield* makeHub
        yield* hub.promote(first)
        const inside = yield* ScriptedServer.make(text(200, "{}"))
        const redirect = text(302, "", { location: `${inside.url}/status` })
        const elsewhere = "http://192.0.2.1"
        const client = yield* reaching({ [elsewhere]: hub.url })
        const { failure, fetch } = yield* Effect.provideService(
          makeReplica(elsewhere),
          HttpClient.HttpClient,
          client
        )
        hub.fault(new RegExp(name), redirect)
        expect(yield* failure).toMatch(
          new RegExp(`a redirect leads to ${inside.url}, but 127\\.0\\.0\\.1 is an address of this machine`)
        )
        expect(yield* Queue.size(inside.received)).toBe(0)
        expect(yield* fetch).toMatchObject({ changed: true })
      }).pipe(environment)
  )

  scenario("on this machine can redirect to another address of it", function* () {
    const hub = yield* makeHub
    const versionId = yield* hub.promote(first)
    const front = yield* ScriptedServer.make((response, request) =>
      text(302, "", { location: `${hub.url}${request.url}` })(response, request)
    )
    const { fetch } = yield* makeReplica(front.url.replace("127.0.0.1", "localhost"))
    expect(yield* fetch).toMatchObject({ changed: true, versionId })
  })
})
