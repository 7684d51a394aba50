/**
 * The timeout of a dispatch within one process.
 */
import * as Effect from "effect/Effect"
import { CommandUnavailable, type DispatchError, type DispatchOptions } from "../../services/CommandBus.ts"

/** Fails in time even if the handler cannot be interrupted, which then continues in the background. */
export const withDispatchTimeout = <A, R>(
  dispatch: Effect.Effect<A, DispatchError, R>,
  type: string,
  { timeout }: DispatchOptions
): Effect.Effect<A, DispatchError, R> =>
  timeout === undefined
    ? dispatch
    : Effect.timeoutFail(Effect.disconnect(dispatch), {
        duration: timeout,
        onTimeout: () => new CommandUnavailable({ type, reason: "timeout", mayHaveRun: true })
      })
