/**
 * `vitrine check`
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { printableJson, printableLine } from "../../internal/printable.ts"
import { countText } from "../../internal/readable.ts"
import { type Changes, ContentCheck } from "../../services/ContentCheck.ts"
import * as Command from "./Command.ts"
import { contentOptions, decodeResult, runContentCommand } from "./contentCommand.ts"
import { commands } from "./overview.ts"
import * as Parameter from "./Parameter.ts"

/** `library` is what configurations import as `vitrine`. */
export const makeCommand = (library: object) =>
  Command.make({
    name: "check",
    description: commands.check.description,
    parameters: {
      ...contentOptions,
      json: Parameter.flag({ name: "json", description: "As JSON, for programs." })
    },
    run: ({ json, ...options }) =>
      Effect.gen(function* () {
        const check = yield* runContentCommand(library, options, {
          command: { type: "content.check" },
          isOnDisk: false,
          interrupted: { there: "The controller goes on checking.", here: "Interrupted before the end." }
        }).pipe(Effect.flatMap(decodeResult(ContentCheck)))
        yield* Console.log(json ? printableJson(check, 2) : checkText(check))
      })
  })

type CheckedSource = ContentCheck["sources"][number]

const checkText = ({ sources }: ContentCheck): string =>
  [
    ...sources.map(sourceText),
    sources.some(({ changed }) => changed)
      ? "Everything is as expected. A fetch makes a new version."
      : "Everything is as expected. A fetch changes nothing."
  ].join("\n")

const sourceText = ({
  changed,
  documents = [],
  files,
  records,
  sourceId,
  warnings = []
}: CheckedSource): string =>
  [
    `${printableLine(sourceId)}: ${countText(records, "record")}${changed ? "" : ", nothing has changed"}`,
    ...documents.map(
      ({ document, records, ...changes }) =>
        `  ${printableLine(document)}: ${records} in all, ${changesText(changes)}`
    ),
    ...(changed ? [`  files: ${changesText(files)}`] : []),
    ...warnings.map((warning) => `  warning: ${printableLine(warning)}`)
  ].join("\n")

const changesText = ({ added, changed, removed }: Changes): string =>
  `${added} added, ${changed} changed, ${removed} removed`
