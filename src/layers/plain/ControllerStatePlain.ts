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
 * Both come from the controller. It has one slice for each plugin that it sets up, under its own name for the plugin, and accepts
 * no sections: its status does not contain Vitrine's sections.
 */
export const make = (
  context: Pick<PlainContext, "getGlobalState" | "getStatusSnapshot" | "mode" | "updateState">
) => {
  // Both are sent as JSON, which turns a `Date` into text.
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
        // Skips the first: the slice has it already.
        Stream.drop(1),
        Stream.runForEach((fields) => update(() => fields)),
        Effect.forkScoped
      ),
    updateSlice: (_plugin, f) => update(f)
  })
}

/** The interval for values that always change: a plain controller does not read them itself. */
const momentaryEvery = "10 seconds"

/** Handles the promise, because an unhandled rejection would end the process. The controller may settle it late. */
const warnWhereRejected = (updating: PromiseLike<unknown>) =>
  Effect.promise(() => updating).pipe(
    Effect.catchAllCause((cause) => Effect.logWarning("The state could not be updated", cause)),
    Effect.forkDaemon
  )

/** Works for a controller that passes a draft, and for a controller that uses the returned value. */
const merge = (slice: unknown, next: unknown): unknown =>
  Predicate.isRecord(slice) && Predicate.isRecord(next) && !Object.isFrozen(slice)
    ? Object.assign(slice, next)
    : next
