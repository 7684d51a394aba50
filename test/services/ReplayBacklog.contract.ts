/**
 * What every `ReplayBacklog` does, wherever it keeps its events.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import type * as Layer from "effect/Layer"
import { type RememberedEvent, ReplayBacklog } from "../../src/services/ReplayBacklog.ts"

const event: FastCheck.Arbitrary<RememberedEvent> = FastCheck.record({
  name: FastCheck.constantFrom("content:version:promoted", "a", "b", "__proto__", "7", "1", "größe"),
  data: FastCheck.string({ unit: "grapheme", maxLength: 6 })
})

/** The layer gives an empty backlog each time it is built. */
export const replayBacklogContract = (name: string, layer: Layer.Layer<ReplayBacklog>) =>
  describe(`${name} as a ReplayBacklog`, () => {
    it.effect("starts empty", () =>
      Effect.gen(function* () {
        expect(yield* (yield* ReplayBacklog).snapshot).toEqual([])
      }).pipe(Effect.provide(layer))
    )

    it.effect.prop(
      "keeps the last event of each name, in the order of last emission",
      [FastCheck.array(event, { maxLength: 30 })],
      ([events]) =>
        Effect.gen(function* () {
          const backlog = yield* ReplayBacklog
          yield* Effect.forEach(events, backlog.remember)
          const expected = events.filter(
            ({ name }, index) => !events.slice(index + 1).some((later) => later.name === name)
          )
          expect(yield* backlog.snapshot).toEqual(expected)
        }).pipe(Effect.provide(layer))
    )

    it.effect("gives snapshots that stay as they are", () =>
      Effect.gen(function* () {
        const backlog = yield* ReplayBacklog
        yield* backlog.remember({ name: "a", data: "1" })
        const before = yield* backlog.snapshot
        yield* backlog.remember({ name: "a", data: "2" })
        yield* backlog.remember({ name: "b", data: "3" })
        expect(before).toEqual([{ name: "a", data: "1" }])
      }).pipe(Effect.provide(layer))
    )
  })
