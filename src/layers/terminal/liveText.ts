/**
 * Text that is replaced in place on a terminal.
 */
import { clearScreenDown, cursorTo, moveCursor } from "node:readline"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** Shows a text instead of the one before. */
export type ShowText = (text: string) => Effect.Effect<void>

/**
 * On a terminal, each text takes the place of the one before; elsewhere, texts that differ follow each other, with a
 * blank line in between.
 */
export const makeLiveText = (stream: NodeJS.WriteStream): Effect.Effect<ShowText, never, Scope.Scope> =>
  stream.isTTY ? inPlace(stream) : Effect.sync(() => oneAfterTheOther(stream))

const inPlace = (stream: NodeJS.WriteStream) =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => stream.write(hideCursor + cutLines)),
      () => Effect.sync(() => stream.write(wrapLines + showCursor))
    ),
    (): ShowText => {
      let height = 0
      return (text) =>
        Effect.sync(() => {
          // What has scrolled out of the terminal cannot be replaced.
          const lines = text.split("\n").slice(0, Math.max(1, (stream.rows || 24) - 1))
          moveCursor(stream, 0, -height)
          cursorTo(stream, 0)
          clearScreenDown(stream)
          stream.write(`${lines.join("\n")}\n`)
          height = lines.length
        })
    }
  )

const oneAfterTheOther = (stream: NodeJS.WriteStream): ShowText => {
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
