/**
 * The status of the controller for people: sections of aligned lines, each with a mark and a colour.
 */
import pc from "picocolors"
import type wrapAnsi from "wrap-ansi"
import { printableLine } from "../../../internal/printable.ts"
import { momentText, withLocalTimes } from "../../../internal/readable.ts"
import type { Row, StatusSnapshot, Tone } from "../../../services/ControllerState.ts"
import type { Problem } from "../../../services/Problem.ts"
import type { Health, View } from "../../../services/View.ts"
import { acceptText, problemText, toneOf } from "../../status/rows.ts"

/** The colours and marks of the text. */
export interface Palette {
  readonly title: (text: string) => string
  /** The overall state, for example OK. */
  readonly word: (word: Health) => string
  readonly tone: Readonly<Record<Tone, (text: string) => string>>
  /** A text after the mark of its tone. If the tone is ok, only the mark is coloured. */
  readonly marked: (text: string, tone: Tone) => string
}

const marks: Readonly<Record<Tone, string>> = { ok: "✓", warn: "!", error: "✗", neutral: "·" }

/** Whether text for the stream may have colours: on a terminal, unless `NO_COLOR` is set. */
export const isColourful = ({ isTTY }: Pick<NodeJS.WriteStream, "isTTY">): boolean =>
  isTTY === true && (process.env.NO_COLOR ?? "") === ""

export interface Terminal {
  readonly columns: number
  readonly rows: number
  readonly wrap: typeof wrapAnsi
}

/** The terminal, 80 by 24 if its size is unknown; `undefined` if the output is no terminal. */
export const terminalOf = async ({
  columns,
  isTTY,
  rows
}: Pick<NodeJS.WriteStream, "columns" | "isTTY" | "rows">): Promise<Terminal | undefined> => {
  if (!isTTY) {
    return undefined
  }
  // Slow to load.
  const { default: wrap } = await import("wrap-ansi")
  return { columns: columns || 80, rows: rows || 24, wrap }
}

export const makePalette = (isColourful: boolean): Palette => {
  const { bold, blue, dim, green, inverse, red, yellow } = pc.createColors(isColourful)
  const ofWord = { OK: green, WARNING: yellow, HELD: blue, FAILING: red, "NO CONTENT": red }
  const tone = { ok: green, warn: yellow, error: red, neutral: dim }
  return {
    title: bold,
    word: (word) => bold(inverse(ofWord[word](isColourful ? ` ${word} ` : word))),
    tone,
    marked: (text, name) => `${tone[name](marks[name])} ${name === "ok" ? text : tone[name](text)}`
  }
}

/**
 * The overall state and its problems, then a line for each row, without a line break at the end. Text from other machines stays on
 * its line, and its ISO times become local times, with their distance from the time of the view.
 */
export const statusText = (
  { header, now, problems, sections, word }: View,
  { palette, terminal }: StatusFormat
): string => {
  const readable = (text: string) => withLocalTimes(printableLine(text), now, momentText)
  const folded = (text: string) => (terminal === undefined ? text : foldLines(text, terminal))
  const head = folded(
    [
      palette.word(word),
      ...problems.flatMap((problem) => {
        const text = `${readable(problemText(problem))}${timesText(problem)}`
        const accept = acceptText(problem)
        return [
          `  ${palette.marked(text, toneOf(problem))}`,
          ...(accept === undefined ? [] : [`    ${palette.tone.neutral(accept)}`])
        ]
      })
    ].join("\n")
  )
  const rest = [
    `${palette.title("Controller")}  ${nodeText(header)}running since ${readable(header.startTime)}`,
    ...sections.map(({ rows, title }) =>
      [palette.title(readable(title)), ...rowsText(rows, 1, { palette, readable })].join("\n")
    )
  ].join("\n\n")
  const whole = `${head}\n\n${folded(rest)}`
  return terminal === undefined || whole.split("\n").length < terminal.rows
    ? whole
    : [whole, "", ...head.split("\n").slice(0, terminal.rows - 2)].join("\n")
}

/** Wraps long lines between words, and indents the rest by four columns. */
const foldLines = (text: string, { columns, wrap }: Terminal): string =>
  text
    .split("\n")
    .map((line) => {
      const [indentation = ""] = /^ */.exec(line) ?? []
      const width = Math.max(20, columns - indentation.length - 4)
      const folded = wrap(line.slice(indentation.length), width)
      return `${indentation}${folded.replaceAll("\n", `\n${indentation}    `)}`
    })
    .join("\n")

interface StatusFormat {
  readonly palette: Palette
  /**
   * Longer lines are wrapped. If the text has more rows, the overall state and its problems are repeated at
   * the end. Default none: unlimited.
   */
  readonly terminal?: Terminal | undefined
}

/** How often the problem has begun, if more than once. */
const timesText = ({ count = 1 }: Problem): string => (count > 1 ? ` (${count} times since the start)` : "")

const nodeText = ({ node }: StatusSnapshot["header"]): string =>
  node === undefined ? "" : `${printableLine(node.label ?? node.id)}, `

interface Format {
  readonly palette: Palette
  readonly readable: (text: string) => string
}

const rowsText = (rows: ReadonlyArray<Row>, depth: number, format: Format): ReadonlyArray<string> => {
  const { palette, readable } = format
  const width = rows.reduce(
    (width, row) => (row.type === "kv" ? Math.max(width, printableLine(row.label).length) : width),
    0
  )
  const indentation = "  ".repeat(depth)

  const line = (text: string, tone: Tone | undefined): string =>
    `${indentation}${tone === undefined ? `  ${text}` : palette.marked(text, tone)}`

  const lines = (row: Row): ReadonlyArray<string> => {
    switch (row.type) {
      case "kv":
        return [line(`${printableLine(row.label).padEnd(width)}  ${readable(row.value)}`, row.tone)]
      case "text":
        return [line(readable(row.text), row.tone)]
      case "list":
        return [
          line(printableLine(row.label), undefined),
          ...(row.items.length === 0 ? [`${indentation}    none`] : rowsText(row.items, depth + 1, format))
        ]
    }
  }

  return rows.flatMap(lines)
}
