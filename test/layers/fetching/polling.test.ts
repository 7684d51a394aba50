import { expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { changesSince } from "../../../src/layers/documents/DocumentSource.ts"
import { makePolling } from "../../../src/layers/fetching/polling.ts"
import type { ContentSource } from "../../../src/services/ContentSource.ts"
import { SourceError } from "../../../src/services/SourceError.ts"
import { withJumpingClock } from "../../support/jumpingClock.ts"

it.effect("a failed fetch is retried after its pause, even if the clock is set back meanwhile", () =>
  withJumpingClock(({ adjust, set }) =>
    Effect.gen(function* () {
      const { refusal, remember } = yield* makePolling([])
      const failure = new SourceError({ source: "rooms", cause: new Error("as the test wants it") })
      const years = 14 * 365 * 24 * 60 * 60 * 1000
      yield* set(years)
      yield* Effect.flip(remember(failure))
      yield* set(-years)
      expect(yield* refusal).toEqual(Option.some(failure))
      yield* adjust("10 minutes")
      expect(yield* refusal).toEqual(Option.none())
    })
  )
)

it.effect("a source whose poll failed is fetched once it works, though other polls fail meanwhile", () =>
  Effect.gen(function* () {
    const failing = new Set(["rooms"])
    const source = (id: string): ContentSource => ({
      id,
      fetch: () => Effect.dieMessage("nothing is fetched here"),
      poll: (cursor) =>
        failing.has(id)
          ? new SourceError({ source: id, cause: new Error("as the test wants it") })
          : Effect.succeed(
              changesSince(
                Option.orElseSome(cursor, () => "1"),
                "1"
              )
            )
    })
    const { found, poll } = yield* makePolling([source("rooms"), source("tours")])
    yield* Effect.flip(poll)
    failing.clear()
    failing.add("tours")
    yield* Effect.flip(poll)
    failing.clear()
    expect(yield* poll).toBe(true)
    expect([...(yield* found)]).toContain("rooms")
    expect(yield* poll).toBe(false)
  })
)

it.effect(
  "a source keeps its cursor and its changes, though the poll of another fails before it answers",
  () =>
    Effect.gen(function* () {
      const hasFailed = yield* Deferred.make<void>()
      const cursors: Array<Option.Option<string>> = []
      const fetch = () => Effect.dieMessage("nothing is fetched here")
      const { found, poll } = yield* makePolling([
        {
          id: "rooms",
          fetch,
          poll: (cursor) => {
            cursors.push(cursor)
            return Effect.as(Deferred.await(hasFailed), changesSince(cursor, "1"))
          }
        },
        {
          id: "tours",
          fetch,
          poll: () =>
            Effect.zipRight(
              Deferred.succeed(hasFailed, undefined),
              new SourceError({ source: "tours", cause: new Error("as the test wants it") })
            )
        }
      ])
      yield* Effect.flip(poll)
      expect([...(yield* found)]).toEqual(["rooms"])
      yield* Effect.flip(poll)
      expect(cursors).toEqual([Option.none(), Option.some("1")])
    })
)
