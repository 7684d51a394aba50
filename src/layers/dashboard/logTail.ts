/**
 * The last lines of the log.
 */
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import { logText } from "../../internal/loggers.ts"

export interface LogLine {
  /** ISO 8601, UTC. */
  readonly at: string
  readonly level: "info" | "warn" | "error"
  /** Without control characters; absolute paths have their last part only. */
  readonly text: string
}

export interface LogTail {
  /** The oldest first. */
  readonly lines: () => ReadonlyArray<LogLine>
  readonly logger: Logger.Logger<unknown, void>
}

/** How many lines are kept, and how long each may be; the oldest go, and the rest of a line is cut. */
export const maxLines = 200
export const maxLength = 1000

/** `changed` is called when there is another line. What is less important than `info` is not kept. */
export const makeLogTail = (changed: () => void): LogTail => {
  let lines: ReadonlyArray<LogLine> = []
  return {
    lines: () => lines,
    logger: Logger.make(({ cause, date, logLevel, message }) => {
      if (LogLevel.greaterThanEqual(logLevel, LogLevel.Info)) {
        const line = {
          at: date.toISOString(),
          level: levelOf(logLevel),
          text: logText(message, cause, maxLength)
        }
        lines = [...lines.slice(1 - maxLines), line]
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
