/**
 * `vitrine fetch`
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { printableJson } from "../../internal/printable.ts"
import { FetchOutcome } from "../../services/ContentEvents.ts"
import * as Command from "./Command.ts"
import { contentOptions, decodeResult, runContentCommand } from "./contentCommand.ts"
import { commands } from "./overview.ts"

/** `library` is what configurations import as `vitrine`. */
export const makeCommand = (library: object) =>
  Command.make({
    name: "fetch",
    description: commands.fetch.description,
    parameters: contentOptions,
    run: (options) =>
      runContentCommand(library, options, {
        command: { type: "content.fetch" },
        isOnDisk: false,
        interrupted: {
          there: "The controller goes on fetching.",
          here: "Interrupted before the end; the content stays as it is."
        }
      }).pipe(
        Effect.flatMap(decodeResult(FetchOutcome)),
        Effect.flatMap((outcome) => Console.log(printableJson(outcome, 2)))
      )
  })
