/**
 * Extra loggers beside the program's own, and the text of log messages.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as HashSet from "effect/HashSet"
import * as Inspectable from "effect/Inspectable"
import type * as Logger from "effect/Logger"
import { messageOf, serializeError } from "./SerializedError.ts"

/** Adds a logger, for fibers that are forked from now on, until the scope ends. */
export const addLoggerHere = (logger: Logger.Logger<unknown, void>) =>
  Effect.locallyScopedWith(FiberRef.currentLoggers, HashSet.add(logger))

/** The parts of a message as one text. */
export const messageText = (message: unknown): string =>
  [message]
    .flat()
    .map((part) => Inspectable.toStringUnknown(part, 0))
    .join(" ")

/**
 * A log message as text for others: without control characters, absolute paths cut to their last part, and cut to
 * `maxLength` characters.
 */
export const logText = (message: unknown, cause: Cause.Cause<unknown>, maxLength: number): string => {
  const why = Cause.isEmpty(cause) ? [] : [messageOf(Cause.squash(cause))]
  const whole = [messageText(message), ...why].join(": ")
  const { message: text } = serializeError(new Error(whole))
  return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text
}
