/**
 * `vitrine status`
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { printableJson } from "../../internal/printable.ts"
import { IpcClient } from "../../services/IpcClient.ts"
import { healthOf, problemsOf } from "../status/Health.ts"
import { askController, show } from "./askController.ts"
import { lastFetchFailure } from "./lastFetch.ts"
import type { Options } from "./options.ts"
import { isColourful, makePalette, sizeOf, statusText } from "./terminal/statusText.ts"

/** The exit status of `--check` where something fails, and where only the last fetch has. */
const failingStatus = 1
const fetchFailedStatus = 3

export const run = (options: Options) => {
  const { check = false, json = false, watch = false } = options
  const palette = makePalette(isColourful(process.stdout))
  const text = Effect.gen(function* () {
    const client = yield* IpcClient
    const status = yield* client.status
    if (json) {
      return printableJson(status, watch ? 0 : 2)
    }
    const state = yield* client.state
    const now = yield* Clock.currentTimeMillis
    const health = healthOf(problemsOf(state))
    return statusText(status, { health, now, palette, rows: sizeOf(process.stdout).rows })
  })
  const ask = askController(options)
  return Effect.zipRight(show(ask(text), watch), check ? ask(checkHealth) : Effect.void)
}

const checkHealth = Effect.gen(function* () {
  const state = yield* (yield* IpcClient).state
  if (!healthOf(problemsOf(state)).isHealthy) {
    process.exitCode = failingStatus
  } else if (Option.isSome(lastFetchFailure(state))) {
    process.exitCode = fetchFailedStatus
  }
})
