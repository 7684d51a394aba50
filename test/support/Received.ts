/**
 * Bytes that come in piece by piece, and a way to wait for what they will say.
 */
import type { Readable } from "node:stream"
import * as Effect from "effect/Effect"

export interface Received {
  readonly append: (bytes: Uint8Array) => void
  /** Nothing will follow. */
  readonly end: () => void
  readonly bytes: () => Buffer
  /** How many bytes there are. */
  readonly size: () => number
  readonly text: () => string
  /** Waits until the text satisfies the predicate, and returns it; dies when the end comes first. */
  readonly until: (predicate: (text: string) => boolean) => Effect.Effect<string>
  /** Waits for the end, and returns the whole text. */
  readonly whole: Effect.Effect<string>
}

/** What a stream gives, up to its end. */
export const from = (stream: Readable): Received => {
  const received = make()
  stream.on("data", received.append)
  stream.once("close", received.end)
  return received
}

export const make = (): Received => {
  const pieces: Array<Uint8Array> = []
  const watchers = new Set<() => void>()
  let ended = false
  let size = 0

  const bytes = () => Buffer.concat(pieces)
  const text = () => bytes().toString()
  const notify = () => {
    for (const watcher of [...watchers]) {
      watcher()
    }
  }
  /** Runs `check` now and whenever something has come in, until it gives an Effect to go on with. */
  const watch = (check: () => Effect.Effect<string> | undefined) =>
    Effect.async<string>((resume) => {
      const watcher = () => {
        const outcome = check()
        if (outcome !== undefined) {
          watchers.delete(watcher)
          resume(outcome)
        }
      }
      watchers.add(watcher)
      watcher()
      return Effect.sync(() => watchers.delete(watcher))
    })

  return {
    append: (bytes) => {
      pieces.push(bytes)
      size += bytes.length
      notify()
    },
    end: () => {
      ended = true
      notify()
    },
    bytes,
    size: () => size,
    text,
    until: (predicate) =>
      watch(() =>
        predicate(text())
          ? Effect.succeed(text())
          : ended
            ? Effect.dieMessage(`The end came before what was waited for, after: ${text().slice(-500)}`)
            : undefined
      ),
    whole: watch(() => (ended ? Effect.succeed(text()) : undefined))
  }
}
