/**
 * The last lines of the log.
 */
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as MutableRef from "effect/MutableRef"
import { logText } from "./loggers.ts"

export interface LogLine {
  /** ISO 8601, UTC. */
  readonly at: string
  readonly level: "info" | "warn" | "error"
  /** Without control characters; absolute paths are cut to their last part. */
  readonly text: string
}

export interface LogTail {
  /** The oldest first. */
  readonly lines: () => ReadonlyArray<LogLine>
  readonly logger: Logger.Logger<unknown, void>
}

export interface LogTailOptions {
  /** The lowest level that is kept. */
  readonly minimum: LogLevel.LogLevel
  /** The most lines, and the most characters of a line. The oldest lines are dropped, and longer lines are cut. */
  readonly maxLines: number
  readonly maxLength: number
  /** Called after each new line. */
  readonly changed?: () => void
}

export const makeLogTail = ({
  changed = () => {},
  maxLength,
  maxLines,
  minimum
}: LogTailOptions): LogTail => {
  const kept = MutableRef.make<ReadonlyArray<LogLine>>([])
  return {
    lines: () => MutableRef.get(kept),
    logger: Logger.make(({ cause, date, logLevel, message }) => {
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
