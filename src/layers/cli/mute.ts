/**
 * `vitrine mute`
 */
import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { momentOf } from "../../internal/moment.ts"
import { printableLine } from "../../internal/printable.ts"
import { countText, momentText, withLocalTimes } from "../../internal/readable.ts"
import { IpcClient } from "../../services/IpcClient.ts"
import { type Mute, muteProblem, unmuteProblem } from "../../services/Problem.ts"
import type { View } from "../../services/View.ts"
import { muteText } from "../status/rows.ts"
import { askController, caller } from "./askController.ts"
import { CliError } from "./command.ts"
import type { Options } from "./program.ts"

const noEnd = (until: string | undefined) => {
  const mistake = until === undefined ? "Say until when" : `No time or duration: ${JSON.stringify(until)}`
  return new CliError({
    message: `${mistake}, for example --until 18:00, --until "2 hours" or --until 2026-12-01T09:00.`
  })
}

export const run = (options: Options, name?: string) =>
  askController(options)(
    name === undefined ? listAll(options) : options.end === true ? unmute(name, options) : mute(name, options)
  )

/** With an option of a mute, the name was forgotten. */
const listAll = ({ by, end, until, why }: Options) =>
  [by, end, until, why].every((option) => option === undefined)
    ? list
    : new CliError({ message: "Name what is muted, for example vitrine mute NAME --until 18:00." })

const list = Effect.gen(function* () {
  const { mutes, now } = yield* (yield* IpcClient).view
  yield* Console.log(
    mutes.length === 0 ? "Nothing is muted." : mutes.map((mute) => lineOf(mute, now)).join("\n")
  )
})

const mute = Effect.fnUntraced(function* (name: string, { by = caller(), until, why }: Options) {
  const now = yield* Clock.currentTimeMillis
  const end = yield* Effect.mapError(
    Option.flatMap(Option.fromNullable(until), (until) => momentOf(until, now, DateTime.zoneMakeLocal())),
    () => noEnd(until)
  )
  const { dispatch, view } = yield* IpcClient
  const muted = yield* dispatch({
    type: muteProblem.type,
    name,
    until: new Date(end).toISOString(),
    by,
    why
  }).pipe(Effect.flatMap(Schema.decodeUnknown(muteProblem.success)))
  const { isKept = true, problems } = muted
  yield* Console.log(`Muted: ${lineOf(muted, now)}`)
  if (!isKept) yield* Console.log("The disk cannot save it: a restart of the controller ends it.")
  yield* Console.log(
    problems === 0
      ? `There is no problem of this name now. ${namesText(yield* view)}`
      : `There ${problems === 1 ? "is" : "are"} ${countText(problems, "such problem")} now.`
  )
})

/** Lists the current problems, each of which can be muted. */
const namesText = ({ problems }: View): string =>
  problems.length === 0
    ? "There is no problem at all."
    : `Problems are: ${Array.dedupe(problems.map(({ code, player, subject }) => subject ?? player ?? code))
        .map((name) => printableLine(name))
        .join(", ")}.`

const unmute = Effect.fnUntraced(function* (name: string, { by = caller() }: Options) {
  yield* (yield* IpcClient).dispatch({ type: unmuteProblem.type, name, by })
  yield* Console.log(`No longer muted: ${printableLine(name)}`)
})

const lineOf = (mute: Mute, now: number): string =>
  withLocalTimes(`${printableLine(mute.name)}, ${muteText(mute)}`, now, momentText)
