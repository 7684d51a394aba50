/**
 * Text that is replaced in place on a terminal.
 *
 * `log-update` does this only for a terminal with constant width: a terminal that gets narrower wraps the rows again, and some
 * old rows would stay. It cuts the beginning of a text that is too high, without a mark.
 */
import { clearScreenDown, cursorTo, moveCursor } from "node:readline"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import wrapAnsi from "wrap-ansi"
import { countText } from "../../../internal/readable.ts"

/** Replaces the text before. */
export type ShowText = (text: string) => Effect.Effect<void>

/** The part of a stream such as `process.stdout` that is used here. */
export type Output = NodeJS.WritableStream & {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

/**
 * On a terminal, each text replaces the text before. Long lines use several rows, and the last row counts the lines that do not
 * fit. Elsewhere, texts that differ are written one after the other, separated by a blank line.
 */
export const makeLiveText = (stream: Output): Effect.Effect<ShowText, never, Scope.Scope> =>
  stream.isTTY ? inPlace(stream) : Effect.sync(() => oneAfterTheOther(stream))

const inPlace = (stream: Output) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => stream.write(hideCursor + cutLines)),
      () => Effect.sync(() => stream.write(wrapLines + showCursor))
    ),
    (): ShowText => {
      let rows: ReadonlyArray<string> = []
      return (text) =>
        Effect.sync(() => {
          // A terminal that has become narrower has wrapped the rows again, even inside words.
          moveCursor(stream, 0, -inRows(rows, stream, false).length)
          cursorTo(stream, 0)
          clearScreenDown(stream)
          rows = thatFit(inRows(text.split("\n"), stream, true), stream)
          stream.write(`${rows.join("\n")}\n`)
        })
    }
  )

/** Each row begins and ends its own colours. */
const inRows = (
  lines: ReadonlyArray<string>,
  { columns }: Output,
  wordWrap: boolean
): ReadonlyArray<string> =>
  lines.flatMap((line) => wrapAnsi(line, columns || 80, { hard: true, trim: false, wordWrap }).split("\n"))

/** Keeps only rows that fit, because rows that have scrolled out cannot be replaced. The cursor needs the last row. */
const thatFit = (rows: ReadonlyArray<string>, stream: Output): ReadonlyArray<string> => {
  const room = Math.max(1, (stream.rows || 24) - 1)
  const hidden = rows.length - room + 1
  return hidden <= 1
    ? rows
    : [...rows.slice(0, room - 1), `… (${countText(hidden, "more line")})`.slice(0, stream.columns || 80)]
}

const oneAfterTheOther = (stream: Output): ShowText => {
  let last: string | undefined
  return (text) =>
    Effect.sync(() => {
      if (text !== last) {
        stream.write(last === undefined ? `${text}\n` : `\n${text}\n`)
        last = text
      }
    })
}

const hideCursor = "\u001b[?25l"
const showCursor = "\u001b[?25h"
const cutLines = "\u001b[?7l"
const wrapLines = "\u001b[?7h"
