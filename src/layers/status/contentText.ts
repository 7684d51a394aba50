/**
 * Texts of what is different in two versions, and of content that is not as expected.
 */
import { english } from "../../internal/englishMistakes.ts"
import type { MistakePlace } from "../../internal/mistakeParts.ts"
import { printableLine } from "../../internal/printable.ts"
import { countText } from "../../internal/readable.ts"
import type { Changes, ContentDiff, FieldChange, RecordChange } from "../../services/ContentDiff.ts"
import type { KeptSource } from "../../services/VersionStore.ts"
import type { Violation } from "../../services/Violation.ts"

/** A source that could not be fetched for a version. */
export const oldText = ({ sourceId, since }: KeptSource): string =>
  `the content of "${printableLine(sourceId)}" is from before ${since}, when its fetches began to fail`

/** How many changes are listed. */
const maxNamed = 3
/** The longest value and name, in characters. */
const maxText = 40

/**
 * The first changes, three at most: a line for each table, and one for other files, such as `Objects: "Fog Bell" year
 * 1862 → 1863, 2 more`. Empty if only links or the order changed.
 */
export const changeTexts = ({ documents, files }: ContentDiff): ReadonlyArray<string> => {
  const parts = [
    ...documents.map(({ document, records, ...changes }) => ({
      title: document,
      total: totalOf(changes),
      words: records.slice(0, maxNamed).map((record) => recordWords(record))
    })),
    {
      title: "files",
      total: totalOf(files),
      words: files.list.slice(0, maxNamed).map(({ change, path }) => `${shorten(path)} ${change}`)
    }
  ].filter(({ total }) => total > 0)
  const listed = parts.slice(0, maxNamed)
  const more = parts.length - listed.length
  return [
    ...listed.map(({ title, total, words }, index) => {
      const named = words.slice(0, index === 0 ? maxNamed + 1 - listed.length : 1)
      const rest = total - named.length
      return `${shorten(title)}: ${[...named, ...(rest > 0 ? [`${rest} more`] : [])].join(", ")}`
    }),
    ...(more > 0 ? [`and in ${countText(more, "more table")}`] : [])
  ]
}

/** `"Fog Bell" year 1862 → 1863`, `opening 10 → 11`, `"Fog Bell" added`. */
const recordWords = (record: RecordChange): string => {
  const { change, fields = [], moreFields = 0 } = record
  const title = recordTitle(record)
  if (change !== "changed") {
    return `${title} ${change}`
  }
  const field = fields.find(({ from, to }) => from !== undefined && to !== undefined) ?? fields[0]
  if (field === undefined) {
    return `${title} ${valueText(record)}`
  }
  const more = fields.length - 1 + moreFields
  const rest = more > 0 ? ` and ${countText(more, "more field")}` : ""
  return `${title} ${shorten(field.field)} ${valueText(field)}${rest}`
}

/** The name of a record in quotes, or its id, or a key. */
export const recordTitle = ({ id, name }: RecordChange, maxLength = maxText): string =>
  name === undefined ? shorten(id, maxLength) : `"${shorten(name, maxLength)}"`

/** `1862 → 1863`; an empty cell is `nothing`. */
export const valueText = (
  { from = "nothing", to = "nothing" }: Omit<FieldChange, "field">,
  maxLength = maxText
): string => `${shorten(from, maxLength)} → ${shorten(to, maxLength)}`

/** Makes texts printable too: some come in messages of other programs. */
const shorten = (text: string, maxLength = maxText): string => printableLine(text, maxLength)

const totalOf = ({ added, changed, removed }: Changes): number => added + changed + removed

/**
 * `Table "Objects", record rec1 and 2 more, field "Title": expected text, found nothing.` For a file with rows:
 * `Objects.csv, row 6 (INV-005), "Title": expected text, found nothing.`
 */
export const violationText = (violation: Violation): string =>
  `${english.place(placeOfViolation(violation))}: ${english.violation(violation)}`

export const placeOfViolation = (violation: Violation): MistakePlace => {
  const { field, file, kind = "table", recordId, records, rows, table } = violation
  return {
    name: file ?? table,
    kind: file === undefined ? kind : undefined,
    rows,
    records,
    record: recordId,
    field
  }
}
