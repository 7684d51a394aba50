/**
 * `vitrine fleet`
 */
import * as Effect from "effect/Effect"
import { printableJson } from "../../internal/printable.ts"
import { IpcClient } from "../../services/IpcClient.ts"
import { worstTone } from "../status/rows.ts"
import { askController, show } from "./askController.ts"
import { CliError } from "./command.ts"
import { setExitStatus } from "./processExit.ts"
import type { Options } from "./program.ts"
import { fleetText } from "./terminal/fleetText.ts"
import { isColourful, makePalette } from "./terminal/statusText.ts"

/** `hub` is the address to which this machine reports. */
const takesNoReports = (hub: string | undefined) =>
  new CliError({
    message:
      hub === undefined
        ? 'No players report to this machine. Here, give contentServer the option reports: { token: "…" }; on each player, give replica the option report: { to: "http://<this machine>:8730", token: "…" }.'
        : `No players report to this machine: it is a player itself, and reports to ${hub}. Run "vitrine fleet" there.`
  })

export const run = (options: Options) => {
  const { check = false, json = false, watch = false } = options
  const palette = makePalette(isColourful(process.stdout))
  const text = Effect.gen(function* () {
    const { contents, now, players } = yield* (yield* IpcClient).view
    if (players === undefined) {
      return yield* takesNoReports(contents.flatMap(({ reports }) => reports?.to ?? [])[0])
    }
    if (check) {
      const isFailing = players.some((player) => worstTone(player, "ok") === "error")
      setExitStatus(isFailing ? "failure" : "success")
    }
    return json ? printableJson(players, watch ? 0 : 2) : fleetText(players, { now, palette })
  })
  return show(askController(options)(text), watch)
}
