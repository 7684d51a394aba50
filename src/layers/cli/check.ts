/**
 * `vitrine check`
 */
import * as Console from "effect/Console"
import { printableJson, printableLine } from "../../internal/printable.ts"
import { countText } from "../../internal/readable.ts"
import { ContentCheck } from "../../services/ContentCheck.ts"
import * as ContentCommand from "./ContentCommand.ts"
import { changeLines } from "./diff.ts"
import { jsonOption } from "./options.ts"

export const makeCommand = ContentCommand.make({
  name: "check",
  parameters: { json: jsonOption },
  result: ContentCheck,
  isOnDisk: false,
  interrupted: { there: "The controller goes on checking.", here: "Interrupted before the end." },
  report: (check, { json }) => Console.log(json ? printableJson(check, 2) : checkText(check))
})

type CheckedSource = ContentCheck["sources"][number]

const checkText = ({ sources, ...changes }: ContentCheck): string =>
  [
    ...sources.map(sourceText),
    ...changeLines(changes),
    sources.some(({ changed }) => changed)
      ? "Everything is as expected. A fetch makes a new version."
      : "Everything is as expected. A fetch changes nothing."
  ].join("\n")

const sourceText = ({ changed, records, sourceId, warnings = [] }: CheckedSource): string =>
  [
    `${printableLine(sourceId)}: ${countText(records, "record")}${changed ? "" : ", nothing has changed"}`,
    ...warnings.map((warning) => `  warning: ${printableLine(warning)}`)
  ].join("\n")
