/**
 * `vitrine status` and `vitrine fleet`
 */
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Struct from "effect/Struct"
import { printableJson } from "../../internal/printable.ts"
import { IpcClient } from "../../services/IpcClient.ts"
import type { View } from "../../services/View.ts"
import { worstTone } from "../status/rows.ts"
import { isHealthy, lastFetchFailure } from "../status/view.ts"
import { askController } from "./askController.ts"
import { chooseContent } from "./chooseContent.ts"
import { CliError } from "./command.ts"
import { setExitStatus } from "./processExit.ts"
import type { Options } from "./program.ts"
import { failureText } from "./terminal/log.ts"
import { isColourful, makePalette, type Palette, statusText, terminalOf } from "./terminal/statusText.ts"

export const status = (options: Options) =>
  show(
    options,
    Effect.fnUntraced(function* (view, palette) {
      const { check = false, content } = options
      if (content !== undefined) {
        yield* chooseContent(options, view.contents)
      }
      if (check) {
        const failure = lastFetchFailure(view, content)
        setExitStatus(!isHealthy(view.word) ? "failure" : failure === undefined ? "success" : "fetchFailed")
      }
      const terminal = yield* terminalOf(process.stdout)
      return {
        data: Struct.pick(view, "header", "sections"),
        text: () => statusText(view, { palette, terminal })
      }
    })
  )

export const fleet = (options: Options) =>
  show(
    options,
    Effect.fnUntraced(function* ({ contents, now, players }, palette) {
      if (players === undefined) {
        return yield* takesNoReports(contents.flatMap(({ reports }) => reports?.to ?? [])[0])
      }
      if (options.check === true) {
        const isFailing = players.some((player) => worstTone(player, "ok") === "error")
        setExitStatus(isFailing ? "failure" : "success")
      }
      const { fleetText } = yield* Effect.promise(() => import("./terminal/fleetText.ts"))
      return { data: players, text: () => fleetText(players, { now, palette }) }
    })
  )

/** `hub` is the address to which this machine reports. */
const takesNoReports = (hub: string | undefined) =>
  new CliError({
    message:
      hub === undefined
        ? 'No players report to this machine. Here, give contentServer the option reports: { token: "…" }; on each player, give replica the option report: { to: "http://<this machine>:8730", token: "…" }.'
        : `No players report to this machine: it is a player itself, and reports to ${hub}. Run "vitrine fleet" there.`
  })

/** The printed part of a view: data for programs, or a text for people. */
interface Shown {
  readonly data: unknown
  readonly text: () => string
}

/** Prints what is shown of the view once; if watched, every second, in the place of what was printed before. */
const show = <E>(options: Options, shownOf: (view: View, palette: Palette) => Effect.Effect<Shown, E>) => {
  const { json = false, watch = false } = options
  const palette = makePalette(isColourful(process.stdout))
  const text = Effect.gen(function* () {
    const { data, text } = yield* shownOf(yield* (yield* IpcClient).view, palette)
    return json ? printableJson(data, watch ? 0 : 2) : text()
  }).pipe(askController(options))
  return watch ? Effect.scoped(keepShowing(text)) : Effect.flatMap(text, Console.log)
}

/** Prints failures as text, and continues: the controller may start later. */
const keepShowing = <E, R>(text: Effect.Effect<string, E, R>) =>
  Effect.gen(function* () {
    const { makeLiveText } = yield* Effect.promise(() => import("./terminal/liveText.ts"))
    const show = yield* makeLiveText(process.stdout)
    yield* text.pipe(
      Effect.catchAll((error) => Effect.succeed(failureText(Cause.fail(error), false))),
      Effect.flatMap(show),
      Effect.repeat(Schedule.spaced("1 second"))
    )
  })
