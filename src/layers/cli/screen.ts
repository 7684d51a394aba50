/**
 * `vitrine screen`
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { IpcClient } from "../../services/IpcClient.ts"
import { askController, caller } from "./askController.ts"
import { chooseContent } from "./ContentCommand.ts"
import type { Arguments, Options } from "./options.ts"

export const run = (options: Options, ...[action, screen]: Arguments) =>
  Effect.gen(function* () {
    const { dispatch, view } = yield* IpcClient
    const content = yield* chooseContent(options, (yield* view).contents)
    yield* dispatch({ type: `${content}.screen`, screen, action, by: caller() })
  }).pipe(
    askController(options),
    Effect.zipRight(
      Console.log(
        `Screen ${screen} is asked to ${action}. It does so at once if it has an event stream, else when it next reports, within two minutes.`
      )
    )
  )
