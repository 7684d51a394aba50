/**
 * The state and the status of a plain controller.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { ControllerState } from "../../services/ControllerState.ts"
import type { PlainContext } from "./PlainContext.ts"

/**
 * Both are what the controller says. It has one slice for each plugin that it sets up, whatever that calls itself, and
 * takes no sections: its status shows none of Vitrine's.
 */
export const make = (
  context: Pick<PlainContext, "getGlobalState" | "getStatusSnapshot" | "mode" | "updateState">
) =>
  ControllerState.of({
    mode: context.mode,
    state: Effect.sync(() => context.getGlobalState()),
    status: Effect.sync(() => context.getStatusSnapshot()),
    addSection: () => Effect.void,
    updateSlice: (_plugin, f) =>
      Effect.sync(() => void context.updateState((slice) => become(slice, f(slice))))
  })

/** Right for a controller that gives a draft away, and for one that takes what is returned. */
const become = (slice: unknown, next: unknown): unknown =>
  Predicate.isRecord(slice) && Predicate.isRecord(next) && !Object.isFrozen(slice)
    ? Object.assign(slice, next)
    : next
