/**
 * `vitrine status`
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { printableJson } from "../../internal/printable.ts"
import { IpcClient } from "../../services/IpcClient.ts"
import { healthOf, problemsOf } from "../status/Health.ts"
import * as Command from "./Command.ts"
import { lastFetchFailure } from "./lastFetch.ts"
import { configOption, jsonOption, runDirOption } from "./options.ts"
import { commands } from "./overview.ts"
import * as Parameter from "./Parameter.ts"
import { asking, show, watchOption } from "./showing.ts"
import { isColourful, makePalette, statusText } from "./terminal/statusText.ts"

/** The exit status of `--check` for a controller that runs, but whose last fetch has failed. */
const fetchFailedStatus = 3

const check = Parameter.flag({
  name: "check",
  description: `End with exit status ${fetchFailedStatus} where the last fetch has failed.`
})

export const command = Command.make({
  name: "status",
  description: commands.status.description,
  parameters: { check, config: configOption, json: jsonOption, runDir: runDirOption, watch: watchOption },
  run: ({ check, config, json, runDir, watch }) => {
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
      return statusText(status, { health, now, palette })
    })
    const ask = asking(config, runDir)
    return Effect.zipRight(show(ask(text), watch), check ? ask(checkLastFetch) : Effect.void)
  }
})

const checkLastFetch = Effect.gen(function* () {
  const { state } = yield* IpcClient
  if (Option.isSome(lastFetchFailure(yield* state))) {
    process.exitCode = fetchFailedStatus
  }
})
