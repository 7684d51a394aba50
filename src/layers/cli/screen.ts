/**
 * `vitrine screen`
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { askedForMs, TakenByScreen } from "../../services/AskedScreen.ts"
import { IpcClient } from "../../services/IpcClient.ts"
import { askController, caller } from "./askController.ts"
import { chooseContent } from "./chooseContent.ts"
import { CliError } from "./command.ts"
import type { Arguments, Options } from "./program.ts"
import { takePicture } from "./screenPicture.ts"

const lost = (screen: string | undefined) =>
  `Whether screen ${screen} has received it is not known: the controller has ended, or has missed events. "vitrine status" says whether the screen reports.`

const isReceived = Schema.is(TakenByScreen)

export const run = (options: Options, ...[action, screen = ""]: Arguments) =>
  Effect.gen(function* () {
    if (action === "picture") {
      return yield* takePicture(screen, options.out)
    }
    const { dispatch, events, view } = yield* IpcClient
    const { contents, screens } = yield* view
    const content = yield* chooseContent(options, contents)
    const received = Stream.filter(
      yield* events,
      ({ name, payload }) =>
        name === `${content}:screen:taken` &&
        isReceived(payload) &&
        payload.screen === screen &&
        payload.actions.some((received) => received === action)
    )
    yield* dispatch({ type: `${content}.screen`, screen, action, by: caller() })
    yield* Console.log(`Screen ${screen} is asked to ${action}.`)
    if (!screens.some(({ id }) => id === screen)) {
      yield* Console.log("Its player gets the request with its next report, within ten seconds.")
    }
    const first = yield* Stream.runHead(received).pipe(
      Effect.timeoutOption(askedForMs),
      Effect.catchTag("vitrine/IpcConnectionLost", () => new CliError({ message: lost(screen) }))
    )
    if (Option.isNone(first)) {
      return yield* new CliError({
        message: `Screen ${screen} has not responded within two minutes. "vitrine status" says whether it reports.`
      })
    }
    yield* Console.log(`Screen ${screen} has received it.`)
  }).pipe(Effect.scoped, askController(options))
