/**
 * Announces the problems of a controller when they begin and end: as events of the bus, and to whatever takes alerts.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import { EventBus } from "../../services/EventBus.ts"
import { problemsOf } from "../status/Health.ts"
import { compare, type Found, type ProblemChange, type StandingProblems } from "./problemChanges.ts"

/** How often it checks: the state does not say when one begins, because many begin as time goes on. */
const checkEvery = "5 seconds"

/**
 * Checks for problems until the scope ends. Each that has begun is published as `controller:problem:begin`, with its fields, and
 * when it is over as `controller:problem:end`, with `endedAt` beside them; `take` is given
 * what every check has found.
 */
export const reportProblems = Effect.fnUntraced(function* (
  take: (found: Found) => Effect.Effect<void> = () => Effect.void
) {
  const { state } = yield* ControllerState
  const bus = yield* EventBus
  const standing = yield* Ref.make<StandingProblems>(new Map())
  const warning = makeWarnWhile((reason) => `Problems cannot be announced on the event bus: ${reason}`)

  const publish = (change: ProblemChange) =>
    bus
      .publish(
        change._tag === "Begin" ? "controller:problem:begin" : "controller:problem:end",
        change._tag === "Begin" ? change.problem : { ...change.problem, endedAt: change.endedAt }
      )
      .pipe(
        Effect.zipRight(warning.works),
        Effect.catchAll(({ message }) => warning.fails(message))
      )

  const check = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const problems = problemsOf(yield* state, now)
    const found = compare(yield* Ref.get(standing), problems, new Date(now).toISOString())
    yield* Ref.set(standing, found.standing)
    yield* Effect.forEach(found.changes, publish, { discard: true })
    yield* take(found)
  })

  yield* check.pipe(
    Effect.catchAllCause((cause) => Effect.logError("Problems could not be looked for", cause)),
    Effect.repeat(Schedule.spaced(checkEvery)),
    Effect.forkScoped
  )
})
