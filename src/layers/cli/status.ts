/**
 * `vitrine status` and `vitrine fleet`
 */
import * as Cause from "effect/Cause"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import { IpcClient } from "../../services/IpcClient.ts"
import type { View } from "../../services/View.ts"
import { askController } from "./askController.ts"
import { chooseContent } from "./chooseContent.ts"
import { CliError } from "./command.ts"
import type { Options } from "./program.ts"
import { fleetOf, statusOf } from "./quickStatus.ts"
import { failureText } from "./terminal/log.ts"

export const status = (options: Options) =>
  show(
    options,
    Effect.fnUntraced(function* (view) {
      if (options.content !== undefined) {
        yield* chooseContent(options, view.contents)
      }
      return yield* Effect.promise(() => statusOf(view, options))
    })
  )

export const fleet = (options: Options) =>
  show(
    options,
    Effect.fnUntraced(function* (view) {
      const text = yield* Effect.promise(() => fleetOf(view, options))
      return text ?? (yield* takesNoReports(view.contents.flatMap(({ reports }) => reports?.to ?? [])[0]))
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

/** Prints the text of the view once; if watched, every second, in the place of what was printed before. */
const show = <E>(options: Options, textOf: (view: View) => Effect.Effect<string, E>) => {
  const text = Effect.gen(function* () {
    return yield* textOf(yield* (yield* IpcClient).view)
  }).pipe(askController(options))
  return options.watch ? Effect.scoped(keepShowing(text)) : Effect.flatMap(text, Console.log)
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
