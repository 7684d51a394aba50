/**
 * The sentence for content that is not as expected.
 */
import type { Violation } from "../../services/Violation.ts"

/**
 * `Table "Objects", record rec1 and 2 more, field "Title": expected text, found nothing.` For a file with lines:
 * `Objects.csv, line 6, "Title": expected text, found nothing.`
 */
export const violationText = (violation: Violation): string => {
  const { expected, found, hint } = violation
  return `${placeText(violation)}: expected ${expected}, found ${found}.${hint === undefined ? "" : ` ${hint}`}`
}

const placeText = ({ field, file, kind, lines, recordId, records = 1, table }: Violation): string => {
  const moreThan = (named: number) => (records > named ? ` and ${records - named} more` : "")
  return (
    file === undefined || lines === undefined
      ? [
          `${kind === "document" ? "Document" : "Table"} ${JSON.stringify(table)}`,
          ...(recordId === undefined ? [] : [`record ${recordId}${moreThan(1)}`]),
          ...(field === undefined ? [] : [`field ${JSON.stringify(field)}`])
        ]
      : [
          file,
          `${lines.length === 1 ? "line" : "lines"} ${lines.join(", ")}${moreThan(lines.length)}`,
          ...(field === undefined ? [] : [JSON.stringify(field)])
        ]
  ).join(", ")
}
