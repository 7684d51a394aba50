/**
 * `vitrine mute`
 */
import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { isDay } from "../../internal/optionSchemas.ts"
import { printableLine } from "../../internal/printable.ts"
import { countText, momentText, withLocalTimes } from "../../internal/readable.ts"
import { IpcClient } from "../../services/IpcClient.ts"
import { Mute } from "../../services/Problem.ts"
import type { View } from "../../services/View.ts"
import { muteText } from "../status/rows.ts"
import { askController, caller } from "./askController.ts"
import { CliError } from "./CliError.ts"
import type { Options } from "./options.ts"

const noEnd = (until: string | undefined) => {
  const mistake = until === undefined ? "Say until when" : `No time or duration: ${JSON.stringify(until)}`
  return new CliError({
    message: `${mistake}, for example --until 18:00, --until "2 hours" or --until 2026-12-01T09:00.`
  })
}

const Muted = Schema.Struct({ ...Mute.fields, problems: Schema.Number })

export const run = (options: Options, name?: string) =>
  askController(options)(
    name === undefined ? list : options.end === true ? unmute(name, options) : mute(name, options)
  )

const list = Effect.gen(function* () {
  const { mutes, now } = yield* (yield* IpcClient).view
  yield* Console.log(
    mutes.length === 0 ? "Nothing is muted." : mutes.map((mute) => lineOf(mute, now)).join("\n")
  )
})

const mute = Effect.fnUntraced(function* (name: string, { by = caller(), until, why }: Options) {
  const now = yield* Clock.currentTimeMillis
  const end = yield* Effect.mapError(
    Option.flatMap(Option.fromNullable(until), (until) => endOf(until, now)),
    () => noEnd(until)
  )
  const { dispatch, view } = yield* IpcClient
  const muted = yield* dispatch({
    type: "problem.mute",
    name,
    until: end.toISOString(),
    by,
    ...(why === undefined ? {} : { why })
  }).pipe(Effect.flatMap(Schema.decodeUnknown(Muted)))
  const { problems } = muted
  yield* Console.log(`Muted: ${lineOf(muted, now)}`)
  yield* Console.log(
    problems === 0
      ? `There is no problem of this name now. ${namesText(yield* view)}`
      : `There ${problems === 1 ? "is" : "are"} ${countText(problems, "such problem")} now.`
  )
})

/** Names the problems of now, each of which can be muted. */
const namesText = ({ problems }: View): string =>
  problems.length === 0
    ? "There is no problem at all."
    : `Problems are: ${Array.dedupe(problems.map(({ code, player, subject }) => subject ?? player ?? code))
        .map((name) => printableLine(name))
        .join(", ")}.`

const unmute = Effect.fnUntraced(function* (name: string, { by = caller() }: Options) {
  yield* (yield* IpcClient).dispatch({ type: "problem.unmute", name, by })
  yield* Console.log(`No longer muted: ${printableLine(name)}`)
})

const lineOf = (mute: Mute, now: number): string =>
  withLocalTimes(`${printableLine(mute.name)}, ${muteText(mute)}`, now, momentText)

/** A time of today or tomorrow, whichever comes; a duration; or a date with a time, that of this machine. */
export const endOf = (text: string, now: number): Option.Option<Date> => {
  const time = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text)
  if (time !== null) {
    const end = new Date(now)
    end.setHours(Number(time[1]), Number(time[2]), 0, 0)
    if (end.getTime() <= now) {
      end.setDate(end.getDate() + 1)
    }
    return Option.some(end)
  }
  const duration = Option.filter(Duration.decodeUnknown(text), Duration.isFinite)
  return Option.match(duration, {
    onSome: (duration) => dateOf(now + Duration.toMillis(duration)),
    onNone: () => (isDay(text.slice(0, 10)) && text[10] === "T" ? dateOf(Date.parse(text)) : Option.none())
  })
}

const dateOf = (millis: number): Option.Option<Date> =>
  Option.filter(Option.some(new Date(millis)), (date) => !Number.isNaN(date.getTime()))
