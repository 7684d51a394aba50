/**
 * Logs through the logger of a plain controller.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as HashSet from "effect/HashSet"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import { messageText } from "../../internal/loggers.ts"
import { printable } from "../../internal/printable.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import type { PlainContext, PlainLogger } from "./plainController.ts"

/** Passes lines of all levels to the controller's logger, which filters them. A logger that throws does no harm. */
export const withPlainLogger =
  (context: Pick<PlainContext, "logger">) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    effect.pipe(
      Effect.locally(FiberRef.currentLoggers, HashSet.make(make(context))),
      Logger.withMinimumLogLevel(LogLevel.All)
    )

/** Logs the reason of a failure in its line, and the stack with level debug. */
const make = (context: Pick<PlainContext, "logger">): Logger.Logger<unknown, void> =>
  Logger.make(({ cause, logLevel, message }) => {
    const text = messageText(message)
    const log = (method: keyof PlainLogger, text: string) => context.logger[method](printable(text))
    try {
      if (Cause.isEmpty(cause)) {
        log(methodOf(logLevel), text)
      } else {
        log(methodOf(logLevel), `${text}: ${messageOf(Cause.squash(cause))}`)
        log("debug", Cause.pretty(cause, { renderErrorCause: true }))
      }
    } catch {
      // Nothing else can report the failure of the logger.
    }
  })

const methodOf = ({ _tag }: LogLevel.LogLevel): keyof PlainLogger => {
  switch (_tag) {
    case "Fatal":
    case "Error":
      return "error"
    case "Warning":
      return "warn"
    case "Debug":
      return "debug"
    case "Trace":
    case "All":
      return "verbose"
    default:
      return "info"
  }
}
