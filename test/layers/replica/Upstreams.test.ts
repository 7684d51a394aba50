import * as HttpClient from "@effect/platform/HttpClient"
import * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import { sha256OfText } from "../../../src/internal/sha256.ts"
import * as Upstreams from "../../../src/layers/replica/Upstreams.ts"
import { withAdvancingClock } from "../../../src/testing/advancingClock.ts"
import { withJumpingClock } from "../../support/jumpingClock.ts"
import { silence } from "../../support/upstream.ts"

const manifest = JSON.stringify({
  schemaVersion: 1,
  versionId: "20261122T093000Z",
  versionPath: "versions/20261122T093000Z",
  generatedAt: "2026-11-22T09:30:00.000Z",
  sources: [],
  filesSha256: sha256OfText("")
})

const one = "192.0.2.1"
const two = "192.0.2.2"

const address = (host: string) => ({ url: `http://${host}/`, authorization: undefined })

it.scoped.each([
  ["after 5 seconds where there is another", [one, two], 5],
  ["after 30 seconds where there is none", [one], 30]
] as const)("an unresponsive address is abandoned %s", ([, hosts, seconds]) =>
  Effect.gen(function* () {
    const client = HttpClient.make((request, { hostname }, signal) =>
      hostname === one
        ? silence(request, signal)
        : Effect.succeed(HttpClientResponse.fromWeb(request, new Response(manifest)))
    )
    const { firstOffer } = yield* Upstreams.make(Array.map(hosts, address), 30_000).pipe(
      Effect.provideService(HttpClient.HttpClient, client)
    )
    const { took, value } = yield* withAdvancingClock(Effect.exit(firstOffer))
    expect(Exit.isSuccess(value)).toBe(hosts.length > 1)
    expect(took).toBe(seconds * 1000)
  }).pipe(Effect.provide(NodeContext.layer))
)

const years = 14 * 365 * 24 * 60 * 60 * 1000

it.scoped("an address that failed is the first again after a minute, even if the clock was set back", () =>
  withJumpingClock(({ adjust, set }) =>
    Effect.gen(function* () {
      let status = 500
      const client = HttpClient.make((request, { hostname }) =>
        Effect.sync(() =>
          HttpClientResponse.fromWeb(
            request,
            new Response(manifest, { status: hostname === one ? status : 200 })
          )
        )
      )
      const { firstOffer } = yield* Upstreams.make([address(one), address(two)], 1000).pipe(
        Effect.provideService(HttpClient.HttpClient, client)
      )
      const asked = Effect.map(firstOffer, (offer) => Option.getOrThrow(offer).hub.url)
      yield* set(years)
      expect(yield* asked).toBe(`http://${two}/`)
      yield* set(-years)
      status = 200
      expect(yield* asked).toBe(`http://${two}/`)
      yield* adjust("1 minute")
      expect(yield* asked).toBe(`http://${one}/`)
    })
  ).pipe(Effect.provide(NodeContext.layer))
)
