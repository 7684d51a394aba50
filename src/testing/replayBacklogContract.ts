/**
 * The contract of every `ReplayBacklog`.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import type * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as TestServices from "effect/TestServices"
import { type RememberedEvent, ReplayBacklog } from "../services/ReplayBacklog.ts"
import { type Case, runCase } from "./runCase.ts"

const emission = FastCheck.record({
  name: FastCheck.constantFrom("content:version:promoted", "a", "b", "__proto__", "7", "1", "größe"),
  data: FastCheck.string({ unit: "grapheme", maxLength: 6 })
})

/** Events in the order of their emission, with gaps in their numbering. */
const history: FastCheck.Arbitrary<ReadonlyArray<RememberedEvent>> = FastCheck.array(
  FastCheck.tuple(emission, FastCheck.integer({ min: 1, max: 3 })),
  { maxLength: 30 }
).map((emissions) => {
  let last = 0
  return emissions.map(([event, step]) => {
    last += step
    return { ...event, sequence: last }
  })
})

/** The remembered events of a history. */
const latestOf = (events: ReadonlyArray<RememberedEvent>) =>
  events.filter(({ name }, index) => !events.slice(index + 1).some((later) => later.name === name))

/**
 * The abilities of a backlog.
 *
 * @since 0.1.0
 * @category models
 */
export interface ReplayBacklogTraits {
  /** Two backlogs of one engine: both have the events that either remembers. Left out: each backlog is on its own. */
  readonly pair?:
    | Effect.Effect<
        readonly [typeof ReplayBacklog.Service, typeof ReplayBacklog.Service],
        unknown,
        Scope.Scope
      >
    | undefined

  /** How many histories are tried, each in its own backlog. Default 100. */
  readonly runs?: number | undefined
}

/**
 * The layer gives an empty backlog each time it is built. The tests run in real time.
 *
 * @since 0.1.0
 * @category testing
 */
export const replayBacklogContract = (
  name: string,
  layer: Layer.Layer<ReplayBacklog, unknown>,
  { pair, runs = 100 }: ReplayBacklogTraits = {}
) => {
  const run = (test: Case<typeof ReplayBacklog.Service>) =>
    Effect.provide(runCase(ReplayBacklog, test), layer)

  describe(`${name} as a ReplayBacklog`, () => {
    it.live("starts empty", () =>
      run(function* (backlog) {
        expect(yield* backlog.snapshot).toEqual([])
      })
    )

    it.effect.prop(
      "keeps the last event of each name, in the order of emission",
      [history],
      ([events]) =>
        run(function* (backlog) {
          yield* Effect.forEach(events, backlog.remember)
          expect(yield* backlog.snapshot).toEqual(latestOf(events))
        }).pipe(TestServices.provideLive),
      { fastCheck: { numRuns: runs } }
    )

    it.effect.prop(
      "never replaces a newer event by an older event, in any order and with repeated calls",
      [
        history.chain((events) =>
          FastCheck.tuple(
            FastCheck.constant(events),
            FastCheck.shuffledSubarray([...events, ...events], {
              minLength: 2 * events.length,
              maxLength: 2 * events.length
            })
          )
        )
      ],
      ([[events, calls]]) =>
        run(function* (backlog) {
          yield* Effect.forEach(calls, backlog.remember)
          expect(yield* backlog.snapshot).toEqual(latestOf(events))
        }).pipe(TestServices.provideLive),
      { fastCheck: { numRuns: runs } }
    )

    it.live("gives snapshots that do not change", () =>
      run(function* (backlog) {
        yield* backlog.remember({ name: "a", data: "1", sequence: 1 })
        const before = yield* backlog.snapshot
        yield* backlog.remember({ name: "a", data: "2", sequence: 2 })
        yield* backlog.remember({ name: "b", data: "3", sequence: 3 })
        expect(before).toEqual([{ name: "a", data: "1", sequence: 1 }])
      })
    )

    it.live("has the same events for every client that reads them", () =>
      run(function* (backlog) {
        const event = { name: "a", data: "1", sequence: 1 }
        yield* backlog.remember(event)
        expect(yield* backlog.snapshot).toEqual([event])
        expect(yield* backlog.snapshot, "A snapshot removes nothing from the backlog").toEqual([event])
      })
    )

    it.live("remembers events that are given at the same time", () =>
      run(function* (backlog) {
        const events = ["a", "b", "c", "d"].map((name, index) => ({ name, data: "1", sequence: index + 1 }))
        yield* Effect.forEach(events, backlog.remember, { concurrency: "unbounded" })
        expect(yield* backlog.snapshot, "A call of `remember` does not undo another one").toEqual(events)
      })
    )

    it.live("keeps the first of two events with the same sequence, and puts the sequence 0 first", () =>
      run(function* (backlog) {
        const [first, zero] = [
          { name: "a", data: "1", sequence: 1 },
          { name: "b", data: "3", sequence: 0 }
        ]
        yield* Effect.forEach([first, { ...first, data: "2" }, zero], backlog.remember)
        expect(yield* backlog.snapshot).toEqual([zero, first])
        const newer = { ...zero, sequence: 2 }
        yield* backlog.remember(newer)
        expect(yield* backlog.snapshot).toEqual([first, newer])
      })
    )

    if (pair !== undefined) {
      it.live("has the events that another instance remembers, in one order", () =>
        runCase(pair, function* ([one, other]) {
          yield* one.remember({ name: "a", data: "1", sequence: 1 })
          yield* other.remember({ name: "b", data: "2", sequence: 2 })
          yield* other.remember({ name: "a", data: "3", sequence: 3 })
          yield* one.remember({ name: "b", data: "0", sequence: 0 })
          const expected = [
            { name: "b", data: "2", sequence: 2 },
            { name: "a", data: "3", sequence: 3 }
          ]
          expect(yield* one.snapshot).toEqual(expected)
          expect(yield* other.snapshot).toEqual(expected)
        })
      )
    }
  })
}
