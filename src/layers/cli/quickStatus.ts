/**
 * `vitrine status` and `vitrine fleet` of a controller that answers, without Effect and schemas, which take most of the time of a short command.
 *
 * It prints the view as the controller has judged it. In every other case it prints nothing: the whole command asks again, and
 * names the failure.
 */
import { statSync } from "node:fs"
import { get } from "node:http"
import { dirname, resolve } from "node:path"
import { text as readText } from "node:stream/consumers"
import { fits } from "../../files/socketPath.ts"
import { configurationNames } from "../../internal/configurationNames.ts"
import { printableJson } from "../../internal/printable.ts"
import type { View } from "../../services/View.ts"
import { distrust, pathsOf } from "../control/controllerPaths.ts"
import { isHealthy, lastFetchFailure, worstTone } from "../status/rows.ts"
import { setExitStatus } from "./processExit.ts"
import type { Given, Options } from "./program.ts"
import { isColourful, makePalette, statusText, terminalOf } from "./terminal/statusText.ts"

/** How long the controller may take to answer here, in milliseconds. The whole command waits longer. */
const answerMs = 1000

/** Prints what the command shows. Returns whether the controller has answered; otherwise nothing is printed. */
export const quickStatus = async ({ name, options }: Pick<Given, "name" | "options">): Promise<boolean> => {
  const { config, content, runDir, watch = false } = options
  const textOf = name === "status" ? statusOf : name === "fleet" ? fleetOf : undefined
  if (textOf === undefined || watch || content !== undefined) {
    return false
  }
  try {
    const file = config ?? configurationNames.find((name) => isFile(name))
    const { socket } = await pathsOf(dirname(resolve(file ?? "")), runDir)
    if (file === undefined || !isFile(file) || !fits(socket) || (await distrust(socket)) !== undefined) {
      return false
    }
    const text = await textOf(await askView(socket), options)
    if (text !== undefined) console.log(text)
    return text !== undefined
  } catch {
    return false
  }
}

const isFile = (file: string) => statSync(resolve(file), { throwIfNoEntry: false })?.isFile() === true

const askView = async (socketPath: string): Promise<View> =>
  new Promise((resolve, reject) => {
    get(
      { agent: false, path: "/view", signal: AbortSignal.timeout(answerMs), socketPath },
      async (response) => {
        try {
          resolve(JSON.parse(await readText(response)))
        } catch (error) {
          reject(error)
        }
      }
    ).on("error", reject)
  })

/** What `vitrine status` prints. Sets the exit status if the options ask for it. */
export const statusOf = async (
  view: View,
  { check = false, content, json = false, watch = false }: Options
): Promise<string> => {
  const { header, sections, word } = view
  const text = json
    ? printableJson({ header, sections }, watch ? 0 : 2)
    : statusText(view, {
        palette: makePalette(isColourful(process.stdout)),
        terminal: await terminalOf(process.stdout)
      })
  if (check) {
    const failure = lastFetchFailure(view, content)
    setExitStatus(!isHealthy(word) ? "failure" : failure === undefined ? "success" : "fetchFailed")
  }
  return text
}

/** Gives the text of `vitrine fleet`; `undefined` if no players report here. Sets the exit status if the options ask for it. */
export const fleetOf = async (
  { now, players }: View,
  { check = false, json = false, watch = false }: Options
): Promise<string | undefined> => {
  if (players === undefined) return undefined
  if (check) {
    const isFailing = players.some((player) => worstTone(player, "ok") === "error")
    setExitStatus(isFailing ? "failure" : "success")
  }
  if (json) {
    return printableJson(players, watch ? 0 : 2)
  }
  const { fleetText } = await import("./terminal/fleetText.ts")
  return fleetText(players, { now, palette: makePalette(isColourful(process.stdout)) })
}
