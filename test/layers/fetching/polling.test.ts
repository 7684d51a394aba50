/**
 * What polls have found, and who has taken it.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type { Changes } from "../../../src/layers/fetching/polling.ts"
import { makePolling } from "../../../src/layers/fetching/polling.ts"
import { type ContentSource, SourceFailed } from "../../../src/services/ContentSource.ts"
import { withJumpingClock } from "../../support/jumpingClock.ts"

const ids = ["objects", "rooms"] as const
const parts = ["A", "B", "C"] as const

type Step =
  | { readonly type: "edit"; readonly id: (typeof ids)[number]; readonly part: (typeof parts)[number] }
  | { readonly type: "poll" | "failedPoll" | "fetch" | "done" | "failed" }

const { array, constant, constantFrom, oneof, record } = FastCheck
const step: FastCheck.Arbitrary<Step> = oneof(
  record({ type: constant("edit" as const), id: constantFrom(...ids), part: constantFrom(...parts) }),
  record({
    type: constantFrom(
      "poll" as const,
      "failedPoll" as const,
      "fetch" as const,
      "done" as const,
      "failed" as const
    )
  })
)

const failure = new SourceFailed({ sourceId: "rooms", cause: new Error("as the test wants it") })

/** Two sources that somebody edits. */
const makeSources = () => {
  const edits = { objects: [] as string[], rooms: [] as string[] }
  let fails = false
  const sources = ids.map(
    (id): ContentSource => ({
      id,
      fetch: () => failure,
      poll: (cursor) =>
        fails && id === "rooms"
          ? failure
          : Effect.succeed({
              cursor: String(edits[id].length),
              changed: Option.match(cursor, {
                onNone: () => "everything" as const,
                onSome: (cursor) => edits[id].slice(Number(cursor))
              })
            })
    })
  )
  return {
    sources,
    edit: (id: (typeof ids)[number], part: string) => {
      edits[id].push(part)
    },
    setFails: (value: boolean) => {
      fails = value
    }
  }
}

const namesIn = (changes: Changes) =>
  [...changes].flatMap(([id, changed]) =>
    changed === "everything" ? [`${id} everything`] : changed.map((part) => `${id} ${part}`)
  )

const move = (from: Set<string>, to: Set<string>) => {
  for (const change of from) to.add(change)
  from.clear()
}

describe("what has changed", () => {
  it.effect.prop(
    "is found, taken or in a version, in whatever order there are polls and fetches",
    { steps: array(step, { maxLength: 30 }) },
    ({ steps }) =>
      Effect.gen(function* () {
        const { edit, setFails, sources } = makeSources()
        const polling = makePolling(sources)
        yield* polling.poll
        expect(namesIn(polling.take())).toEqual(["objects everything", "rooms everything"])
        const unseen = new Set<string>()
        const found = new Set<string>()
        const taken = new Set<string>()

        const begin = Effect.gen(function* () {
          const changes = polling.take()
          move(found, taken)
          const end = yield* Deferred.make<void, SourceFailed>()
          const fiber = yield* Effect.fork(polling.restoreOnFailure(() => changes)(Deferred.await(end)))
          yield* Effect.yieldNow()
          return (exit: Effect.Effect<void, SourceFailed>) =>
            Effect.zipRight(Deferred.complete(end, exit), Fiber.await(fiber))
        })
        let end = Option.none<Effect.Effect.Success<typeof begin>>()

        const last: Step = { type: "failed" }
        for (const step of [...steps, last]) {
          switch (step.type) {
            case "edit":
              edit(step.id, step.part)
              unseen.add(`${step.id} ${step.part}`)
              break
            case "poll":
              expect(yield* polling.poll).toBe(unseen.size > 0)
              move(unseen, found)
              break
            case "failedPoll":
              setFails(true)
              expect(yield* Effect.either(polling.poll)).toMatchObject({ _tag: "Left" })
              setFails(false)
              break
            case "fetch":
              if (Option.isNone(end)) end = Option.some(yield* begin)
              break
            case "done":
            case "failed":
              if (Option.isSome(end)) {
                yield* end.value(step.type === "done" ? Effect.void : failure)
                move(taken, step.type === "done" ? new Set() : found)
                end = Option.none()
              }
          }
          expect(polling.isNothingFound()).toBe(found.size === 0)
        }
        expect(namesIn(polling.take()).toSorted()).toEqual([...found].toSorted())
      }),
    { fastCheck: { numRuns: 30 } }
  )
})

it.effect("a fetch that failed is tried again after its pause, though the clock was in the future then", () =>
  withJumpingClock(({ adjust, set }) =>
    Effect.gen(function* () {
      const { restoreOnFailure, refusal } = makePolling([])
      const years = 14 * 365 * 24 * 60 * 60 * 1000
      yield* set(years)
      yield* Effect.flip(restoreOnFailure(() => new Map())(failure))
      yield* set(-years)
      expect(yield* refusal).toEqual(Option.some(failure))
      yield* adjust("10 minutes")
      expect(yield* refusal).toEqual(Option.none())
    })
  )
)
