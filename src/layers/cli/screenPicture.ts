/**
 * `vitrine screen picture`
 */
import { resolve } from "node:path"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { replaceFile } from "../../files/durable.ts"
import { fileName } from "../../files/fileName.ts"
import { explain } from "../../files/systemError.ts"
import { clockTime, sizeText } from "../../internal/readable.ts"
import { IpcClient } from "../../services/IpcClient.ts"
import { CliError } from "./command.ts"

/** Takes a picture of a screen, and writes it to a file. */
export const takePicture = Effect.fnUntraced(function* (screen: string, out: string | undefined) {
  const { picture } = yield* IpcClient
  yield* Console.log(
    screen.includes("/")
      ? `A picture of screen ${screen} is asked for with the next report of its player, within ten seconds, and comes within 90 seconds.`
      : `A picture of screen ${screen} takes a few seconds.`
  )
  const { jpeg, takenAt } = yield* picture(screen)
  const file = resolve(out ?? `${fileName(screen.replaceAll("/", "-"))}.jpg`)
  yield* Effect.mapError(
    replaceFile(file, jpeg),
    (error) => new CliError({ message: `${file} could not be written: ${explain(error)}` })
  )
  yield* Console.log(`${file} shows it as of ${clockTime(new Date(takenAt))} (${sizeText(jpeg.length)}).`)
})
