/**
 * `vitrine check`
 */
import * as Console from "effect/Console"
import { printableJson, printableLine } from "../../internal/printable.ts"
import { countText } from "../../internal/readable.ts"
import { type Changes, ContentCheck } from "../../services/ContentCheck.ts"
import * as ContentCommand from "./ContentCommand.ts"
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
