/**
 * The pace of all requests to one base: below the limit that a server enforces, and hardly slower than it allows.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { content, tableSource } from "../../../../src/index.ts"
import { runTask } from "../../../../src/layers/controller/Controller.ts"
import * as ControllerServices from "../../../../src/layers/controller/ControllerServices.ts"
import * as AirtableClient from "../../../../src/layers/sources/tables/AirtableClient.ts"
import { CommandBus } from "../../../../src/services/CommandBus.ts"
import { RequestPacing } from "../../../../src/services/RequestPacing.ts"
import { withAdvancingClock } from "../../../../src/testing.ts"
import { start } from "../../../support/tableServer.ts"
import { temporaryFolder } from "../../../support/temporaryFolder.ts"

const platform = Layer.merge(NodeContext.layer, NodeHttpClient.layer)
const environment = Layer.provideMerge(ControllerServices.layer("task"), platform)

const rows = (count: number) => JSON.stringify(Array.from({ length: count }, (_, n) => ({ n: String(n) })))

const pictures = Array.from({ length: 5 }, (_, n) => ({ Name: `p${n}`, Picture: [{ file: `${n}.svg` }] }))

it.scoped(
  "three sources with expired attachments read as fast as the rate limit allows, without HTTP 429",
  () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder({
        "One.json": rows(1000),
        "Two.json": rows(1000),
        "Three.json": rows(1000),
        "Pictures.json": JSON.stringify(pictures),
        ...Object.fromEntries(pictures.map((_, n) => [`${n}.svg`, `<svg>${n}</svg>`]))
      })
      const server = yield* start(directory, { attachmentLinkLifetime: "1 second" })
      const source = (id: string, tables: ReadonlyArray<string>, slash: string) =>
        tableSource({
          id,
          baseId: "app1",
          apiKey: "pat.secret",
          endpointUrl: `${server.url}${slash}`,
          tables
        })
      const downloads = yield* temporaryFolder()
      const { took, value } = yield* withAdvancingClock(
        runTask(
          {
            cwd: downloads.directory,
            plugins: [
              content({
                sources: [
                  source("one", ["One"], ""),
                  source("two", ["Two"], "/"),
                  // The pictures first: their links have expired when the other list is read.
                  source("three", ["Pictures", "Three"], "//")
                ]
              })
            ]
          },
          Effect.flatMap(CommandBus, ({ dispatch }) => dispatch({ type: "content.fetch" }))
        )
      )
      expect(value).toMatchObject({ records: 3005 })
      const { attachments, rateLimited, tables } = yield* server.requests
      const requests = Object.values(tables).reduce((sum, count) => sum + count, 0)
      expect({ rateLimited, tables }).toEqual({
        rateLimited: 0,
        tables: { One: 10, Two: 10, Three: 10, Pictures: 1 + pictures.length }
      })
      expect(attachments).toBe(2 * pictures.length)
      expect(took).toBeLessThanOrEqual(1.1 * (requests / 5) * 1000)
    }).pipe(Effect.provide(environment))
)

it.effect("sources of one base share its pacing, with any spelling of their endpoint", () =>
  Effect.gen(function* () {
    const paceOf = (endpointUrl: string, baseId = "app1") =>
      Effect.gen(function* () {
        const keys: Array<string> = []
        const pacing = RequestPacing.of({
          pacer: (key) =>
            Effect.sync(() => {
              keys.push(key)
              return { take: Effect.void, hold: () => Effect.void }
            })
        })
        const options = { endpointUrl, baseId, apiKey: Redacted.make("pat.secret"), maxTimeout: 60_000 }
        yield* AirtableClient.make(options).pipe(Effect.provideService(RequestPacing, pacing))
        return keys.join()
      })
    const key = yield* paceOf("https://api.example/v")
    for (const same of ["https://API.example/v", "https://api.example:443/v", "HTTPS://api.example/v/."]) {
      expect(yield* paceOf(same)).toBe(key)
    }
    for (const other of ["http://api.example/v", "https://api.example/V", "https://api.example:444/v"]) {
      expect(yield* paceOf(other)).not.toBe(key)
    }
    expect(yield* paceOf("https://api.example/v", "app2")).not.toBe(key)
    expect(key).not.toContain("secret")
  }).pipe(Effect.provide(NodeHttpClient.layer))
)
