/**
 * The state and the status of a plain controller.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import { ControllerState } from "../../services/ControllerState.ts"
import type { GlobalState, StatusSnapshot } from "../../services/StatusSnapshot.ts"
import { nothingRemembered } from "../status/standingProblems.ts"
import { makeView } from "../status/view.ts"
import type { PlainContext } from "./plainController.ts"

/**
 * Both are what the controller says. It has one slice for each plugin that it sets up, whatever that calls itself, and
 * takes no sections: its status shows none of Vitrine's.
 */
export const make = (
  context: Pick<PlainContext, "getGlobalState" | "getStatusSnapshot" | "mode" | "updateState">
) => {
  // Both leave as JSON, which makes text of a `Date`.
  const getState = () => context.getGlobalState() as GlobalState
  const getStatus = () => context.getStatusSnapshot() as StatusSnapshot
  const update = (f: (slice: unknown) => unknown) =>
    Effect.flatMap(
      Effect.sync(() => context.updateState((slice) => merge(slice, f(slice)))),
      (updating) => (Predicate.isPromiseLike(updating) ? warnWhereRejected(updating) : Effect.void)
    )
  return ControllerState.of({
    mode: context.mode,
    state: Effect.sync(getState),
    status: Effect.sync(getStatus),
    read: Effect.map(Clock.currentTimeMillis, (now) => {
      const { header, sections } = getStatus()
      const said = {
        state: getState(),
        header,
        added: sections,
        readings: [],
        screens: [],
        players: [],
        now
      }
      return makeView(said, nothingRemembered).reading
    }),
    addReading: () => Effect.void,
    addSection: () => Effect.void,
    addMomentary: (_plugin, fields) =>
      Stream.repeatEffectWithSchedule(Effect.option(fields), Schedule.spaced(momentaryEvery)).pipe(
        Stream.filterMap(identity),
        Stream.changesWith((one, other) => JSON.stringify(one) === JSON.stringify(other)),
        // The first is what the slice has already.
        Stream.drop(1),
        Stream.runForEach((fields) => update(() => fields)),
        Effect.forkScoped
      ),
    updateSlice: (_plugin, f) => update(f)
  })
}

/** How often what never rests is looked at: such a controller does not ask for it. */
const momentaryEvery = "10 seconds"

/** Nothing else handles that promise: rejected, it would end the process. The controller may keep it for long. */
const warnWhereRejected = (updating: PromiseLike<unknown>) =>
  Effect.promise(() => updating).pipe(
    Effect.catchAllCause((cause) => Effect.logWarning("The state could not be updated", cause)),
    Effect.forkDaemon
  )

/** Right for a controller that gives a draft away, and for one that takes what is returned. */
const merge = (slice: unknown, next: unknown): unknown =>
  Predicate.isRecord(slice) && Predicate.isRecord(next) && !Object.isFrozen(slice)
    ? Object.assign(slice, next)
    : next
