/**
 * The actions of `vitrine watch`, on the local stand-in of the hosted API.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as httpClient from "../../../../src/layers/httpClient/HttpClientNode.ts"
import * as watchWebhooks from "../../../../src/layers/sources/airtable/watchWebhooks.ts"
import { start } from "../../../support/tableServer.ts"
import { temporaryFolder } from "../../../support/temporaryFolder.ts"

describe("vitrine watch", () => {
  it.scopedLive("creates one webhook, lists it, and removes it", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder({ "Objects.csv": "Title\nAstrolabe\n" })
      const { faults, url } = yield* start(directory, { rateLimit: false })
      const base = { baseId: "appX", apiKey: "pat123.topsecret", endpointUrl: url }
      expect(yield* watchWebhooks.list(base)).toContain('"vitrine watch create" makes one')
      const made = yield* watchWebhooks.create(base)
      const [id = ""] = /ach\w+/.exec(made) ?? []
      expect(yield* watchWebhooks.create(base)).toBe(
        `There is a webhook already that lists what changes: ${id}.`
      )
      expect(yield* watchWebhooks.list(base)).toMatch(
        new RegExp(`^${id}  lists what changes  until .* \\(in [67] d`)
      )
      expect(yield* watchWebhooks.remove(base, id)).toBe(`Removed ${id}.`)
      expect(yield* watchWebhooks.list(base)).toContain("no webhook")
      yield* faults.add("webhooks no-creator")
      const refused = yield* Effect.flip(watchWebhooks.create(base))
      expect(refused.message).toMatch(/^The base: .* the role of a creator of the base/)
    }).pipe(Effect.provide(Layer.merge(NodeContext.layer, httpClient.layer)))
  )
})
