/**
 * `vitrine diff`
 */
import { printableLine } from "../../internal/printable.ts"
import { momentText, withLocalTimes } from "../../internal/readable.ts"
import {
  type Changes,
  ContentDiff,
  type DocumentDiff,
  type RecordChange
} from "../../services/ContentDiff.ts"
import { oldText, recordTitle, valueText } from "../status/contentText.ts"
import * as ContentCommand from "./ContentCommand.ts"

const diffText = (
  { from, kept, to, ...changes }: ContentDiff,
  { now }: ContentCommand.TextContext
): string => {
  const lines = changeLines(changes)
  return [
    `From version ${from} to ${to}:`,
    ...(lines.length === 0 ? ["Nothing is different."] : lines),
    ...oldLines(to, kept, now)
  ].join("\n")
}

/** The sources whose content in this version is old, one line each. */
export const oldLines = (versionId: string, kept: ContentDiff["kept"] = [], now: number) =>
  kept.map((source) => `In version ${versionId}, ${withLocalTimes(oldText(source), now, momentText)}.`)

export const run = ContentCommand.make({
  name: "diff",
  fields: (from, to) => ({ from, to }),
  result: ContentDiff,
  isOnDisk: true,
  text: diffText
})

/** The differences: a line for each table, record, field and file. */
export const changeLines = ({
  documents,
  files
}: Pick<ContentDiff, "documents" | "files">): ReadonlyArray<string> => [
  ...documents.flatMap(documentLines),
  ...(files.added + files.changed + files.removed === 0 ? [] : fileLines(files))
]

const documentLines = ({ document, more, records, sourceId, ...changes }: DocumentDiff) => [
  `${printableLine(sourceId)}, ${printableLine(document)}: ${changesText(changes)}`,
  ...records.flatMap(recordLines),
  ...moreLines(more)
]

const recordLines = (record: RecordChange): ReadonlyArray<string> => {
  const { change, fields = [], id, moreFields = 0, name } = record
  const title = recordTitle(record, maxText)
  const isKey = name === undefined && record.fields === undefined && change === "changed"
  return [
    `  ${change} ${title}${name === undefined ? "" : ` (${printableLine(id, maxText)})`}${isKey ? `: ${valueText(record, maxText)}` : ""}`,
    ...fields.map((change) => `    ${printableLine(change.field)}: ${valueText(change, maxText)}`),
    ...(moreFields > 0 ? [`    ${moreFields} more`] : [])
  ]
}

const fileLines = ({ list, more, ...changes }: ContentDiff["files"]) => [
  `files: ${changesText(changes)}`,
  ...list.map(({ change, path, sourceId }) => `  ${change} ${printableLine(`${sourceId}/${path}`)}`),
  ...moreLines(more)
]

const moreLines = (more: number): ReadonlyArray<string> => (more > 0 ? [`  and ${more} more`] : [])

/** The longest name and value, in characters. */
const maxText = 120

const changesText = ({ added, changed, removed }: Changes): string =>
  added + changed + removed === 0
    ? "the same records in another order, or with other links"
    : `${added} added, ${changed} changed, ${removed} removed`
