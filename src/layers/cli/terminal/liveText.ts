/**
 * Text that is replaced in place on a terminal.
 *
 * `log-update` does this for a terminal whose width stays: one that gets narrower breaks the rows again, and it would
 * leave some of them behind. Of a text that is too high it shows the end, without a mark.
 */
import { clearScreenDown, cursorTo, moveCursor } from "node:readline"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import wrapAnsi from "wrap-ansi"
import { countText } from "../../../internal/readable.ts"

/** Shows a text instead of the one before. */
export type ShowText = (text: string) => Effect.Effect<void>

/** What is needed of a stream such as `process.stdout`. */
export type Output = NodeJS.WritableStream & {
  readonly isTTY?: boolean
  readonly columns?: number
  readonly rows?: number
}

/**
 * On a terminal, each text takes the place of the one before: long lines take several rows, and the last row says how many
 * others the screen has no room for. Elsewhere, texts that differ follow each other, with a blank line in between.
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
      let shown: ReadonlyArray<string> = []
      return (text) =>
        Effect.sync(() => {
          // A terminal that has become narrower since has broken the rows again, words too.
          moveCursor(stream, 0, -inRows(shown, stream, false).length)
          cursorTo(stream, 0)
          clearScreenDown(stream)
          shown = thatFit(inRows(text.split("\n"), stream, true), stream)
          stream.write(`${shown.join("\n")}\n`)
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

/** What has scrolled out of the terminal cannot be replaced. The last row is left to the cursor. */
const thatFit = (rows: ReadonlyArray<string>, stream: Output): ReadonlyArray<string> => {
  const room = Math.max(1, (stream.rows || 24) - 1)
  const unshown = rows.length - room + 1
  return unshown <= 1
    ? rows
    : [...rows.slice(0, room - 1), `… (${countText(unshown, "more line")})`.slice(0, stream.columns || 80)]
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
