/**
 * The players of a hub for people: what they come to, and then as much of each as there is room for, the worst first.
 */
import * as Array from "effect/Array"
import * as String from "effect/String"
import { printableLine } from "../../../internal/printable.ts"
import { durationText, withLocalTimes } from "../../../internal/readable.ts"
import type { Tone } from "../../../services/StatusSnapshot.ts"
import { isOff, type PlayerStatus } from "../../status/players.ts"
import { countsOf, detailOf, isUnwell, screenCounts, summaryOf, wordText } from "../../status/playerTexts.ts"
import { worstTone } from "../../status/rows.ts"
import type { Palette } from "./statusText.ts"

export interface Format {
  /** Rows of the terminal; the last one is left to the cursor. */
  readonly columns: number
  readonly rows: number
  /** In milliseconds since 1970. */
  readonly now: number
  readonly palette: Palette
}

/**
 * A sentence, a table of those that are not well, and of the others too where there is room; else their names side by side, and
 * how many more there are. Where there is no room for all that are not well, the last of them are side by side as well. Without a line
 * break at the end.
 */
export const fleetText = (players: ReadonlyArray<PlayerStatus>, format: Format): string => {
  const summary = format.palette.title(String.capitalize(summaryOf(players)))
  if (players.length === 0) {
    return summary
  }
  const room = Math.max(1, format.rows - 1 - headRows)
  const inTable = tableLength(players, room, format)
  return [
    summary,
    ...table(
      players.slice(0, inTable),
      players.some(({ isExpected }) => isExpected),
      format
    ),
    ...sideBySide(players.slice(inTable), room - inTable, format)
  ].join("\n")
}

/** The sentence, and the titles of the table. */
const headRows = 2

/** How many have their own line. */
const tableLength = (players: ReadonlyArray<PlayerStatus>, room: number, format: Format): number => {
  if (players.length <= room) {
    return players.length
  }
  const unwell = players.filter(isUnwell).length
  const lastRow = unwell < players.length ? 1 : 0
  const fits = (count: number) =>
    count + lastRow + Math.ceil((unwell - count) / cellsInRow(players.slice(count), format)) <= room
  return Array.range(0, Math.min(unwell, room)).findLast(fits) ?? 0
}

const maxName = 24
const maxScreens = 24

const titles = ["player", "state", "since", "screens", "problem"]

const table = (
  players: ReadonlyArray<PlayerStatus>,
  isAnyExpected: boolean,
  format: Format
): ReadonlyArray<string> => {
  if (players.length === 0) {
    return []
  }
  const lines = players.map((player) => ({
    fields: fieldsOf(player, isAnyExpected, format.now),
    tone: toneOfPlayer(player)
  }))
  const widths = titles.map((title, column) =>
    lines.reduce((width, { fields }) => Math.max(width, lengthOf(fields[column] ?? "")), title.length)
  )
  const inColumns = (fields: ReadonlyArray<string>) =>
    cut(
      fields
        .map((field, column) => pad(field, widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
      format.columns - 2
    )
  return [
    format.palette.tone.neutral(`  ${inColumns(titles)}`),
    ...lines.map(({ fields, tone }) => format.palette.marked(inColumns(fields), tone))
  ]
}

const fieldsOf = (player: PlayerStatus, isAnyExpected: boolean, now: number): ReadonlyArray<string> => [
  nameOf(player),
  wordText(player),
  sinceText(player, now),
  cut(screensText(player), maxScreens),
  [
    ...(isAnyExpected && !player.isExpected ? ["not expected"] : []),
    withLocalTimes(printableLine(detailOf(player)), now)
  ]
    .filter(String.isNonEmpty)
    .join("; ")
]

const nameOf = ({ name }: PlayerStatus): string => cut(printableLine(name), maxName)

/** The largest unit is enough: `3 min`. */
const sinceText = ({ since }: PlayerStatus, now: number): string =>
  since === undefined
    ? ""
    : durationText(Math.max(0, now - Date.parse(since)))
        .split(" ")
        .slice(0, 2)
        .join(" ")

/** `1 hidden, 3 showing` */
const screensText = ({ said, word }: PlayerStatus): string =>
  said === undefined || isOff(word)
    ? ""
    : Object.entries(screenCounts(said))
        .map(([word, count]) => `${count} ${printableLine(word)}`)
        .join(", ")

/** In rows of equal cells, and what there is no room for as a count. */
const sideBySide = (
  players: ReadonlyArray<PlayerStatus>,
  room: number,
  format: Format
): ReadonlyArray<string> => {
  const perRow = cellsInRow(players, format)
  const isAll = Math.ceil(players.length / perRow) <= room
  const shown = isAll ? players : players.slice(0, (room - 1) * perRow)
  const width = cellWidth(players, format)
  const rows = Array.chunksOf(shown, perRow).map((row) =>
    row
      .map((player, index) => {
        const cell = cellText(player, format)
        return format.palette.marked(index < row.length - 1 ? pad(cell, width) : cell, toneOfPlayer(player))
      })
      .join("  ")
  )
  return isAll ? rows : [...rows, cut(restText(players.slice(shown.length)), format.columns)]
}

/** Players without a problem are shown by their name only. */
const cellText = (player: PlayerStatus, { columns, now }: Format): string =>
  cut(
    isUnwell(player)
      ? `${nameOf(player)}  ${wordText(player)} ${sinceText(player, now)}`.trimEnd()
      : nameOf(player),
    columns - 2
  )

const cellWidth = (players: ReadonlyArray<PlayerStatus>, format: Format): number =>
  players.reduce((width, player) => Math.max(width, lengthOf(cellText(player, format))), 0)

const cellsInRow = (players: ReadonlyArray<PlayerStatus>, format: Format): number =>
  Math.max(1, Math.floor((format.columns + 2) / (cellWidth(players, format) + 4)))

const restText = (players: ReadonlyArray<PlayerStatus>): string =>
  players.some(isUnwell)
    ? `and ${players.length} more: ${countsOf(players)}`
    : `and ${players.length} more ${players.length === 1 ? "is" : "are"} up to date`

const toneOfPlayer = (player: PlayerStatus): Tone => worstTone(player, isUnwell(player) ? "neutral" : "ok")

const lengthOf = (text: string): number => globalThis.Array.from(text).length

const pad = (text: string, width: number): string => text + " ".repeat(Math.max(0, width - lengthOf(text)))

const cut = (text: string, width: number): string =>
  lengthOf(text) <= width
    ? text
    : `${globalThis.Array.from(text)
        .slice(0, width - 1)
        .join("")}…`
