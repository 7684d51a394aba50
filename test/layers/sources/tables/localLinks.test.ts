/**
 * Links of a table source that lead to this machine: allowed if the API is on this machine, and refused if it is not.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as HttpClient from "@effect/platform/HttpClient"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as httpClient from "../../../../src/layers/httpClient/HttpClientNode.ts"
import * as RequestPacingMemory from "../../../../src/layers/memory/RequestPacingMemory.ts"
import { tableSource } from "../../../../src/layers/sources/tables/airtableSource.ts"
import { reaching } from "../../../support/elsewhere.ts"
import * as ScriptedServer from "../../../support/ScriptedServer.ts"
import { json, text } from "../../../support/ScriptedServer.ts"

/** Hosts that the source takes for other machines. */
const publicApi = "http://192.0.2.1"
const publicFiles = "http://192.0.2.2"

const setUp = Effect.gen(function* () {
  const fileSystem = yield* FileSystem.FileSystem
  const inside = yield* ScriptedServer.make(text(200, "inside"))
  const files = yield* ScriptedServer.make(text(302, "", { location: `${inside.url}/status` }))
  const api = yield* ScriptedServer.make(text(500, ""))
  const client = yield* reaching({ [publicApi]: api.url, [publicFiles]: files.url })

  const fetch = Effect.fnUntraced(
    function* (endpointUrl: string, url: string) {
      const directory = yield* fileSystem.makeTempDirectoryScoped()
      const photo = { id: "att1", filename: "a.png", url }
      api.next(json(200, { records: [{ id: "rec1", fields: { Photo: [photo] } }] }))
      const source = yield* tableSource({
        id: "exhibits",
        baseId: "app1",
        apiKey: "k3y",
        endpointUrl,
        tables: ["Objects"]
      }).make
      yield* source.fetch({ directory, previous: Option.none(), progress: () => Effect.void })
      return yield* fileSystem.readFileString(`${directory}/attachments/att1/a.png`)
    },
    Effect.provideService(HttpClient.HttpClient, client)
  )

  return { api, fetch, inside }
})

const run = Effect.provide(Layer.mergeAll(NodeContext.layer, httpClient.layer, RequestPacingMemory.layer))

it.scopedLive("a public API cannot make the source download from this machine, by a link or a redirect", () =>
  Effect.gen(function* () {
    const { fetch, inside } = yield* setUp
    const named = inside.url.replace("127.0.0.1", "localhost")
    for (const [link, origin] of [
      [`${inside.url}/status`, inside.url],
      [`${named}/status`, named],
      [`${publicFiles}/a`, inside.url]
    ] as const) {
      const { message } = yield* Effect.flip(fetch(publicApi, link))
      expect(message).toContain(
        `the file "a.png" cannot be saved: its link or a redirect leads to ${origin}, but `
      )
      expect(message).toMatch(
        /but (127\.0\.0\.1|::1|localhost) is an address of this machine or of its local link, and the configuration does not name that host$/
      )
    }
    expect(yield* Queue.size(inside.received)).toBe(0)
  }).pipe(run)
)

it.scopedLive("an API on this machine can link to files on this machine", () =>
  Effect.gen(function* () {
    const { api, fetch, inside } = yield* setUp
    for (const endpointUrl of [api.url, api.url.replace("127.0.0.1", "localhost")]) {
      expect(yield* fetch(endpointUrl, `${inside.url}/a`)).toBe("inside")
      expect(yield* fetch(endpointUrl, `${publicFiles}/a`)).toBe("inside")
    }
  }).pipe(run)
)
