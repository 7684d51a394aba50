/**
 * `vitrine status`
 */
import * as Path from "@effect/platform/Path"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { printableJson } from "../../internal/printable.ts"
import { IpcClient } from "../../services/IpcClient.ts"
import * as IpcClientSocket from "../control/IpcClientSocket.ts"
import { locateConfiguration } from "../controller/loadConfiguration.ts"
import { healthOf, problemsOf } from "../status/Health.ts"
import * as Command from "./Command.ts"
import { lastFetchFailure } from "./lastFetch.ts"
import { configOption, jsonOption, runDirOption } from "./options.ts"
import { commands } from "./overview.ts"
import * as Parameter from "./Parameter.ts"
import { makeLiveText } from "./terminal/liveText.ts"
import { failureText } from "./terminal/log.ts"
import { isColourful, makePalette, statusText } from "./terminal/statusText.ts"

/** The exit status of `--check` for a controller that runs, but whose last fetch has failed. */
const fetchFailedStatus = 3

const watch = Parameter.flag({
  name: "watch",
  description: "Go on showing it, once a second, until Ctrl-C."
})

const check = Parameter.flag({
  name: "check",
  description: `End with exit status ${fetchFailedStatus} where the last fetch has failed.`
})

export const command = Command.make({
  name: "status",
  description: commands.status.description,
  parameters: { check, config: configOption, json: jsonOption, runDir: runDirOption, watch },
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
      const health = healthOf(problemsOf(state, now))
      return statusText(status, { health, now, palette })
    })
    const ask = <A, E, R>(question: Effect.Effect<A, E, R>) =>
      Effect.gen(function* () {
        const path = yield* Path.Path
        const file = yield* locateConfiguration(config)
        const client = IpcClientSocket.layerOfFolder(path.dirname(file), Option.getOrUndefined(runDir))
        return yield* Effect.provide(question, client)
      })
    const once = ask(text)
    if (watch) {
      return Effect.scoped(keepShowing(once))
    }
    return Effect.flatMap(once, Console.log).pipe(Effect.zipRight(check ? ask(checkLastFetch) : Effect.void))
  }
})

const checkLastFetch = Effect.gen(function* () {
  const { state } = yield* IpcClient
  if (Option.isSome(lastFetchFailure(yield* state))) {
    process.exitCode = fetchFailedStatus
  }
})

/** A controller that is not running may have been started since. */
const keepShowing = <E, R>(status: Effect.Effect<string, E, R>) =>
  Effect.gen(function* () {
    const show = yield* makeLiveText(process.stdout)
    yield* status.pipe(
      Effect.catchAll((error) => Effect.succeed(failureText(Cause.fail(error), false))),
      Effect.flatMap(show),
      Effect.zipRight(Effect.sleep("1 second")),
      Effect.forever
    )
  })
