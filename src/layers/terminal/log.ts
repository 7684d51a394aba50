/**
 * The log for people, one line an event, and for programs, one JSON object an event.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FiberRef from "effect/FiberRef"
import * as FiberRefs from "effect/FiberRefs"
import * as HashSet from "effect/HashSet"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import { messageOf } from "../../services/ErrorDescription.ts"
import { clockTime } from "../readable.ts"
import { printable } from "./printable.ts"

export const logFormats = ["text", "json"] as const
export type LogFormat = (typeof logFormats)[number]

export interface LogOptions {
  readonly format: LogFormat
  readonly write: (line: string) => void
  /** How text tells the time. Default `09:30:00`, the local time; JSON has the date and UTC always. */
  readonly time?: (date: Date) => string
}

/** Sends what the effect logs there, and nowhere else. */
export const logTo =
  ({ format, time = clockTime, write }: LogOptions) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.locally(
      effect,
      FiberRef.currentLoggers,
      HashSet.make(format === "json" ? jsonLogger(write) : textLogger(time, write))
    )

/**
 * `09:30:00  info   Ready`; stack traces only where debugging was asked for. Further lines of an event are indented, so
 * that none of them can pass for an event of its own.
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
    const text = [message].flat().map(asText).join(" ")
    const lines = printable(`${text}${causeText(cause, debugging)}`).replaceAll("\n", "\n  ")
    write(`${time(date)}  ${levelText(logLevel)}  ${lines}`)
  })

/** The fields of `Logger.structuredLogger`, their texts printable: what JSON leaves unescaped may still control. */
const jsonLogger = (write: (line: string) => void): Logger.Logger<unknown, void> =>
  Logger.map(Logger.structuredLogger, (event) =>
    write(JSON.stringify(event, (_, value) => (typeof value === "string" ? printable(value) : value)))
  )

const levelText = ({ label }: LogLevel.LogLevel): string => label.toLowerCase().padEnd(5)

/** What an error that ends a command says. */
export const failureText = (cause: Cause.Cause<unknown>, debugging: boolean): string =>
  printable(debugging ? Cause.pretty(cause, { renderErrorCause: true }) : messageOf(Cause.squash(cause)))

const causeText = (cause: Cause.Cause<unknown>, debugging: boolean): string =>
  Cause.isEmpty(cause) ? "" : debugging ? `\n${failureText(cause, true)}` : `: ${failureText(cause, false)}`

const asText = (part: unknown): string => (typeof part === "string" ? part : JSON.stringify(part))
