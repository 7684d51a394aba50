/**
 * The log: for people one line per event, for programs one JSON object per event.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as FiberRefs from "effect/FiberRefs"
import * as HashMap from "effect/HashMap"
import * as HashSet from "effect/HashSet"
import * as List from "effect/List"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import { jsonText } from "../../../internal/jsonText.ts"
import { messageText } from "../../../internal/loggers.ts"
import { printable } from "../../../internal/printable.ts"
import { clockTime, countText } from "../../../internal/readable.ts"
import { messageOf } from "../../../internal/SerializedError.ts"
import type { LogFormat } from "../program.ts"

export interface LogOptions {
  readonly format: LogFormat
  /** Returns `false` if the line is lost; the log says so as soon as it can. */
  readonly write: (line: string) => unknown
  /** Formats the time in text. Default: local time, such as `09:30:00`. JSON always has the date and UTC. */
  readonly time?: (date: Date) => string
}

/**
 * Sends the log of the effect only to `write`. Warns once about plugins made with another version of Effect; Effect itself would
 * warn at each of their steps.
 */
export const logTo =
  ({ format, time = clockTime, write }: LogOptions) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    effect.pipe(
      Effect.locally(
        FiberRef.currentLoggers,
        HashSet.make(
          warningOnceOfVersions(
            tellingLosses(write, (write) => (format === "json" ? jsonLogger(write) : textLogger(time, write)))
          )
        )
      ),
      Effect.locally(FiberRef.versionMismatchErrorLogLevel, Option.some(versionMismatch))
    )

/** A separate level, which identifies Effect's warning about another version. */
const versionMismatch: LogLevel.LogLevel = { ...LogLevel.Warning }

const warningOnceOfVersions = (logger: Logger.Logger<unknown, void>): Logger.Logger<unknown, void> => {
  let isWarned = false
  return Logger.make((event) => {
    if (event.logLevel !== versionMismatch) {
      logger.log(event)
    } else if (!isWarned) {
      isWarned = true
      logger.log({ ...event, message: otherVersion })
    }
  })
}

/** Counts the events that are lost, and logs the number before the next event that is not. */
const tellingLosses = (
  write: LogOptions["write"],
  make: (write: (line: string) => void) => Logger.Logger<unknown, void>
): Logger.Logger<unknown, void> => {
  let lost = 0
  let isWritten = true
  const logger = make((line) => {
    isWritten = write(line) !== false
  })
  return Logger.make((event) => {
    if (lost > 0) {
      const message = `${countText(lost, "event")} before this could not be written in time`
      logger.log({
        ...event,
        annotations: HashMap.empty(),
        cause: Cause.empty,
        logLevel: LogLevel.Warning,
        message,
        spans: List.empty()
      })
      if (isWritten) lost = 0
    }
    logger.log(event)
    if (!isWritten) lost += 1
  })
}

const otherVersion =
  "A plugin is made with another version of Effect than the command line runs with. Install one for both: npm install effect@3 @effect/platform@0 @effect/platform-node@0; npm ls effect shows the versions that are installed."

/**
 * `09:30:00  info   Ready`. Stack traces only with the level `debug`. Further lines of an event are indented, so that no line looks
 * like another event.
 */
const textLogger = (
  time: (date: Date) => string,
  write: (line: string) => void
): Logger.Logger<unknown, void> =>
  Logger.make(({ cause, context, date, logLevel, message }) => {
    const debugging = LogLevel.lessThanEqual(
      FiberRefs.getOrDefault(context, FiberRef.currentMinimumLogLevel),
      LogLevel.Debug
    )
    const lines = printable(`${messageText(message)}${causeText(cause, debugging)}`).replaceAll("\n", "\n  ")
    write(`${time(date)}  ${levelText(logLevel)}  ${lines}`)
  })

/** The fields of `Logger.structuredLogger`, their texts printable: what JSON leaves unescaped may still control. */
const jsonLogger = (write: (line: string) => void): Logger.Logger<unknown, void> =>
  Logger.map(Logger.structuredLogger, (event) =>
    write(
      JSON.stringify(JSON.parse(jsonText(event)), (_, value) =>
        typeof value === "string" ? printable(value) : value
      )
    )
  )

const levelText = ({ label }: LogLevel.LogLevel): string => label.toLowerCase().padEnd(5)

/** The message of an error that ends a command. Further lines are indented, so that they do not look like output of the command. */
export const failureText = (cause: Cause.Cause<unknown>, debugging: boolean): string =>
  printable(textOf(cause, debugging)).replace(/\n(?! {2})/g, "\n  ")

const textOf = (cause: Cause.Cause<unknown>, debugging: boolean): string =>
  debugging ? Cause.pretty(cause, { renderErrorCause: true }) : messageOf(Cause.squash(cause))

const causeText = (cause: Cause.Cause<unknown>, debugging: boolean): string =>
  Cause.isEmpty(cause) ? "" : `${debugging ? "\n" : ": "}${textOf(cause, debugging)}`
