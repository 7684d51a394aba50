/**
 * Extra loggers beside the program's own, such as one that keeps the last lines, and the text of log messages.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as HashSet from "effect/HashSet"
import * as Inspectable from "effect/Inspectable"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as MutableRef from "effect/MutableRef"
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
const logText = (message: unknown, cause: Cause.Cause<unknown>, maxLength: number): string => {
  const why = Cause.isEmpty(cause) ? [] : [messageOf(Cause.squash(cause))]
  const whole = [messageText(message), ...why].join(": ")
  const { message: text } = serializeError(new Error(whole))
  return text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text
}

export interface LogLine {
  /** ISO 8601, UTC. */
  readonly at: string
  readonly level: "info" | "warn" | "error"
  /** Without control characters; absolute paths are cut to their last part. */
  readonly text: string
}

interface LogTailOptions {
  /** The lowest level that is kept. */
  readonly minimum: LogLevel.LogLevel
  /** The most lines, and the most characters of a line. The oldest lines are dropped, and longer lines are cut. */
  readonly maxLines: number
  readonly maxLength: number
  /** Called after each new line. */
  readonly changed?: () => void
}

export const makeLogTail = ({ changed = () => {}, maxLength, maxLines, minimum }: LogTailOptions) => {
  const kept = MutableRef.make<ReadonlyArray<LogLine>>([])
  return {
    /** The oldest first. */
    lines: () => MutableRef.get(kept),
    logger: Logger.make<unknown, void>(({ cause, date, logLevel, message }) => {
      if (LogLevel.greaterThanEqual(logLevel, minimum)) {
        const line = {
          at: date.toISOString(),
          level: levelOf(logLevel),
          text: logText(message, cause, maxLength)
        }
        MutableRef.update(kept, (lines) => [...lines.slice(1 - maxLines), line])
        changed()
      }
    })
  }
}

const levelOf = (level: LogLevel.LogLevel): LogLine["level"] =>
  LogLevel.greaterThanEqual(level, LogLevel.Error)
    ? "error"
    : LogLevel.greaterThanEqual(level, LogLevel.Warning)
      ? "warn"
      : "info"
