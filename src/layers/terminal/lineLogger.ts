/**
 * Log lines for people: the time, what happened, and stack traces only where debugging was asked for.
 */
import * as Cause from "effect/Cause"
import * as FiberRef from "effect/FiberRef"
import * as FiberRefs from "effect/FiberRefs"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import { messageOf } from "../../services/ErrorDescription.ts"
import { clockTime } from "../content/contentText.ts"

/** `09:30:00  Ready`; whatever is not plain information says what it is. */
export const makeLineLogger = (write: (line: string) => void): Logger.Logger<unknown, void> =>
  Logger.make(({ cause, context, date, logLevel, message }) => {
    const debugging = LogLevel.lessThanEqual(
      FiberRefs.getOrDefault(context, FiberRef.currentMinimumLogLevel),
      LogLevel.Debug
    )
    const severity = logLevel._tag === "Info" ? "" : `${logLevel.label.toLowerCase()}: `
    const text = [message].flat().map(asText).join(" ")
    write(`${clockTime(date)}  ${severity}${text}${causeText(cause, debugging)}`)
  })

/** On standard error. */
export const lineLogger = makeLineLogger((line) => console.error(line))

/** The same for an error that ends a command. */
export const failureText = (cause: Cause.Cause<unknown>, debugging: boolean): string =>
  debugging ? Cause.pretty(cause, { renderErrorCause: true }) : messageOf(Cause.squash(cause))

const causeText = (cause: Cause.Cause<unknown>, debugging: boolean): string =>
  Cause.isEmpty(cause) ? "" : debugging ? `\n${failureText(cause, true)}` : `: ${failureText(cause, false)}`

const asText = (part: unknown): string => (typeof part === "string" ? part : JSON.stringify(part))
