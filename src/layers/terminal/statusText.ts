/**
 * The status of the controller for people: sections of aligned lines, with a mark and a colour each.
 */
import pc from "picocolors"
import type { Row, StatusSnapshot, Tone } from "../../services/ControllerState.ts"
import { durationText } from "../readable.ts"

/** How the parts of the text are set off from each other. */
export interface Palette {
  readonly title: (text: string) => string
  readonly tone: Readonly<Record<Tone, (text: string) => string>>
}

export const makePalette = (isColourful: boolean): Palette => {
  const { bold, dim, green, red, yellow } = pc.createColors(isColourful)
  return { title: bold, tone: { ok: green, warn: yellow, error: red, neutral: dim } }
}

/** One line for each row, without a line break at the end. Text that came from elsewhere stays on its line. */
export const statusText = ({ header, sections }: StatusSnapshot, palette: Palette): string =>
  [
    `${palette.title("Controller")}  running for ${durationText(header.uptimeMs)}, since ${header.startTime}`,
    ...sections.map(({ rows, title }) => [palette.title(title), ...rowsText(rows, 1, palette)].join("\n"))
  ].join("\n\n")

const marks: Readonly<Record<Tone, string>> = { ok: "✓", warn: "!", error: "✗", neutral: "·" }

const rowsText = (rows: ReadonlyArray<Row>, depth: number, palette: Palette): ReadonlyArray<string> => {
  const width = Math.max(0, ...rows.map((row) => (row.type === "kv" ? row.label.length : 0)))
  const indentation = "  ".repeat(depth)

  const line = (text: string, tone: Tone | undefined): string =>
    tone === undefined
      ? `${indentation}  ${text}`
      : `${indentation}${palette.tone[tone](marks[tone])} ${tone === "ok" ? text : palette.tone[tone](text)}`

  const lines = (row: Row): ReadonlyArray<string> => {
    switch (row.type) {
      case "kv":
        return [line(`${row.label.padEnd(width)}  ${oneLine(row.value)}`, row.tone)]
      case "text":
        return [line(oneLine(row.text), row.tone)]
      case "list":
        return [
          line(row.label, undefined),
          ...(row.items.length === 0 ? [`${indentation}    none`] : rowsText(row.items, depth + 1, palette))
        ]
    }
  }

  return rows.flatMap(lines)
}

/** Control characters could move the cursor of the terminal. */
const oneLine = (text: string): string => text.replace(/[\s\p{Cc}]+/gu, " ").trim()
