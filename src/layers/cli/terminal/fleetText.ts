/**
 * The players of a hub for people: a sentence about all of them, and a table with a row for each.
 */
import wrapAnsi from "wrap-ansi"
import { printableLine } from "../../../internal/printable.ts"
import { durationText, withLocalTimes } from "../../../internal/readable.ts"
import type { PlayerStatus } from "../../../services/View.ts"
import { detailOf, isOff, isUnwell, screenCounts, stateText, summaryOf } from "../../screens/playerTexts.ts"
import { worstTone } from "../../status/rows.ts"
import type { Palette } from "./statusText.ts"

/** The width of the whole text, in characters. */
const columns = 80
const mark = 2

const titles = ["player", "state", "version", "last report", "screens and problems"]

/** The largest width of each column in characters, except the last column, which gets the rest. */
const limits = [16, 12, 19, 6]

/**
 * The table in the order of the players, 80 characters wide. Longer texts are wrapped in their cells, between words. `now` is in
 * milliseconds since 1970. The text has no line break at the end.
 */
export const fleetText = (
  players: ReadonlyArray<PlayerStatus>,
  { now, palette }: { readonly now: number; readonly palette: Palette }
): string => {
  const isAnyExpected = players.some(({ isExpected }) => isExpected)
  const rows = players.map((player) => ({
    cells: cellsOf(player, isAnyExpected, now),
    tone: worstTone(player, isUnwell(player) ? "neutral" : "ok")
  }))
  const widths = widthsOf([titles, ...rows.map(({ cells }) => cells)])
  const table = [
    ...linesOf(titles, widths).map((line) => palette.tone.neutral(`  ${line}`)),
    ...rows.flatMap(({ cells, tone }) => {
      const [first = "", ...others] = linesOf(cells, widths)
      return [palette.marked(first, tone), ...others.map((line) => `  ${line}`)]
    })
  ]
  return [
    ...wrap(capitalized(summaryOf(players)), columns).map(palette.title),
    ...(players.length === 0 ? [] : table)
  ].join("\n")
}

const cellsOf = (player: PlayerStatus, isAnyExpected: boolean, now: number): ReadonlyArray<string> => {
  const { isExpected, lastReport, name } = player
  const last = [
    screensText(player),
    isAnyExpected && !isExpected ? "not expected" : "",
    withLocalTimes(printableLine(detailOf(player)), now)
  ]
  return [
    printableLine(name),
    stateText(player),
    lastReport === undefined ? "" : printableLine(lastReport.versionId ?? "none"),
    lastReport === undefined ? "never" : ageText(lastReport.heardAt, now),
    last.filter((text) => text !== "").join("; ")
  ]
}

/** `1 hidden, 3 showing` */
const screensText = ({ lastReport, word }: PlayerStatus): string =>
  lastReport === undefined || isOff(word)
    ? ""
    : Object.entries(screenCounts(lastReport))
        .map(([word, count]) => `${count} ${printableLine(word)}`)
        .join(", ")

/** The largest unit is enough: `3 min`. */
const ageText = (time: string, now: number): string =>
  durationText(Math.max(0, now - Date.parse(time)))
    .split(" ")
    .slice(0, 2)
    .join(" ")

const gap = "  "

/** The widths of the columns: as wide as their cells, up to their limits. */
const widthsOf = (rows: ReadonlyArray<ReadonlyArray<string>>): ReadonlyArray<number> => {
  const widths = limits.map((limit, column) =>
    Math.max(...rows.flatMap((cells) => wrap(cells[column] ?? "", limit)).map(widthOf))
  )
  return [...widths, widths.reduce((rest, width) => rest - width - gap.length, columns - mark)]
}

/** The lines of a row of the table. */
const linesOf = (cells: ReadonlyArray<string>, widths: ReadonlyArray<number>): ReadonlyArray<string> => {
  const inColumns = widths.map((width, column) => ({ lines: wrap(cells[column] ?? "", width), width }))
  const height = Math.max(...inColumns.map(({ lines }) => lines.length))
  return Array.from({ length: height }, (_, index) =>
    inColumns
      .map(({ lines, width }) => pad(lines[index] ?? "", width))
      .join(gap)
      .trimEnd()
  )
}

const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** Breaks a word only if it is longer than the width. */
const wrap = (text: string, width: number): ReadonlyArray<string> =>
  wrapAnsi(text, width, { hard: true }).split("\n")

const wide = /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}]/gu

/** The width in columns of a terminal. */
const widthOf = (text: string): number =>
  Array.from(text.replace(/\p{Mark}/gu, "").replace(wide, "  ")).length

const pad = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - widthOf(text)))
