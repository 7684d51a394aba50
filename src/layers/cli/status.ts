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
import { chooseContent, namesOf } from "./ContentCommand.ts"
import { lastFetchFailure } from "./lastFetch.ts"
import type { Options } from "./options.ts"
import { setExitStatus } from "./processExit.ts"
import { isColourful, makePalette, sizeOf, statusText } from "./terminal/statusText.ts"

export const run = (options: Options) => {
  const { check = false, content, json = false, watch = false } = options
  const palette = makePalette(isColourful(process.stdout))
  const text = Effect.gen(function* () {
    const client = yield* IpcClient
    const status = yield* client.status
    const state = yield* client.state
    if (options.content !== undefined) {
      yield* chooseContent(options, namesOf(state))
    }
    const health = healthOf(problemsOf(state))
    if (check) {
      const hasFailed = Option.isSome(lastFetchFailure(state, content))
      setExitStatus(!health.isHealthy ? "failure" : hasFailed ? "fetchFailed" : "success")
    }
    const now = yield* Clock.currentTimeMillis
    return json
      ? printableJson(status, watch ? 0 : 2)
      : statusText(status, { health, now, palette, size: sizeOf(process.stdout) })
  })
  return show(askController(options)(text), watch)
}
