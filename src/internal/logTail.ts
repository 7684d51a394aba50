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
  /** Without control characters; absolute paths have their last part only. */
  readonly text: string
}

export interface LogTail {
  /** The oldest first. */
  readonly lines: () => ReadonlyArray<LogLine>
  readonly logger: Logger.Logger<unknown, void>
}

export interface LogTailOptions {
  /** What is less important is not kept. */
  readonly minimum: LogLevel.LogLevel
  /** How many lines are kept, and how long each may be; the oldest go, and the rest of a line is cut. */
  readonly maxLines: number
  readonly maxLength: number
  /** Called when there is another line. */
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
