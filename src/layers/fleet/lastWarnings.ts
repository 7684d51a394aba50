/**
 * The last warnings and errors of the log.
 */
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import { logText } from "../../internal/loggers.ts"

/** How many are kept, and how long each may be; the oldest go, and the rest of a line is cut. */
const maxLines = 10
const maxLength = 300

export const makeLastWarnings = () => {
  let lines: ReadonlyArray<string> = []
  return {
    /** The oldest first. */
    lines: () => lines,
    logger: Logger.make<unknown, void>(({ cause, date, logLevel, message }) => {
      if (LogLevel.greaterThanEqual(logLevel, LogLevel.Warning)) {
        lines = [...lines.slice(1 - maxLines), `${date.toISOString()} ${logText(message, cause, maxLength)}`]
      }
    })
  }
}
