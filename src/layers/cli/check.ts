/**
 * `vitrine fetch`, and `vitrine check`, which fetches without publishing
 */
import * as Schema from "effect/Schema"
import { countsText } from "../../internal/contentCounts.ts"
import { printable, printableJson, printableLine } from "../../internal/printable.ts"
import { countText, momentText } from "../../internal/readable.ts"
import { ContentCheck } from "../../services/ContentCheck.ts"
import { FetchOutcome } from "../../services/ContentEvents.ts"
import { ContentSample, type SampledDocument } from "../../services/ContentSample.ts"
import type { KeptSource } from "../../services/VersionStore.ts"
import * as ContentCommand from "./ContentCommand.ts"
import { changeLines } from "./diff.ts"

export const fetch = ContentCommand.make({
  name: "fetch",
  result: FetchOutcome,
  isOnDisk: false,
  interrupted: {
    there: "The controller goes on fetching.",
    here: "Interrupted before the end; the content stays as it is."
  },
  text: (outcome) => printableJson(outcome, 2),
  isFailure: ({ kept = [] }) => kept.length > 0,
  failureText: ({ changed, held, kept = [], versionId }, { now }) =>
    [
      ...kept.map(keptText(now)),
      held?.waiting === undefined
        ? `Version ${versionId} ${changed ? "was published all the same" : "stays: nothing else has changed"}.`
        : `Version ${held.waiting} waits all the same; version ${versionId} stays active.`
    ].join("\n")
})

/** Each line begins with the name of the source. */
const keptText =
  (now: number) =>
  ({ message = "", since, sourceId }: KeptSource): string =>
    `${printableLine(sourceId)}: failed since ${momentText(new Date(since), now)}, so its content stays as it is. ${printable(message)}`

export const check = ContentCommand.make({
  name: "check",
  fields: (source) => ({ source }),
  result: Schema.Union(ContentCheck, ContentSample),
  isOnDisk: false,
  triesConfiguration: true,
  interrupted: { there: "The controller goes on checking.", here: "Interrupted before the end." },
  text: (result, { now }) => ("sampled" in result ? sampleText(result) : checkText(result, now)),
  isFailure: (result) => "kept" in result && result.kept !== undefined
})

type CheckedSource = ContentCheck["sources"][number]

const checkText = ({ kept = [], sources, ...changes }: ContentCheck, now: number): string => {
  const ids = kept.map(({ sourceId }) => sourceId)
  return [
    ...sources.filter(({ sourceId }) => !ids.includes(sourceId)).map(sourceText),
    ...kept.map(keptText(now)),
    ...changeLines(shortened(changes)),
    `${kept.length === 0 ? "Everything" : "Everything else"} is as expected. A fetch ${
      sources.some(({ changed }) => changed) ? "makes a new version" : "changes nothing"
    }.`
  ].join("\n")
}

/** How many items of each list are printed; the rest is counted. */
const maxListed = 20

const shortened = ({ documents, files }: Pick<ContentCheck, "documents" | "files">) => ({
  documents: documents.map(({ more, records, ...document }) => ({
    ...document,
    records: records.slice(0, maxListed),
    more: more + Math.max(0, records.length - maxListed)
  })),
  files: {
    ...files,
    list: files.list.slice(0, maxListed),
    more: files.more + Math.max(0, files.list.length - maxListed)
  }
})

const sourceText = ({ changed, removed, sourceId, warnings = [], ...counts }: CheckedSource): string =>
  [
    removed
      ? `${printableLine(sourceId)}: no longer in the configuration, so the new version is without it`
      : `${printableLine(sourceId)}: ${countsText(counts)}${changed ? "" : ", nothing has changed"}`,
    ...warnings.map(({ text }) => `  warning: ${printableLine(text)}`)
  ].join("\n")

/** The documents that a source would save. */
const sampleText = ({ sampled, sourceId, warnings = [] }: ContentSample): string =>
  [
    ...sampled.flatMap((document) => [...documentLines(sourceId, document), ""]),
    ...warnings.map(({ text }) => `warning: ${printableLine(text)}`),
    "Only the first page of each list was read. Nothing was saved."
  ].join("\n")

const documentLines = (sourceId: string, { fields, holds, links, path, records }: SampledDocument) => {
  const what = holds === "value" ? "one value" : countText(records, "record")
  const width = Math.max(0, ...fields.map(({ field }) => field.length))
  return [
    `${printableLine(`${sourceId}/${path}`)}: ${what}`,
    ...fields.map(
      ({ example, field, types }) =>
        `  ${printableLine(field).padEnd(width)}  ${types.join(" or ")}${example === undefined ? "" : `: ${printableLine(example)}`}`
    ),
    ...links.map(
      ({ count, example, path }) =>
        `  ${countText(count, "link")} to files at "${printableLine(path)}": ${printableLine(example)}`
    )
  ]
}
