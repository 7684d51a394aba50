/**
 * What a socket receives, line by line, read no faster than it is taken.
 */
import type { Socket } from "node:net"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { type Line, makeLineReader } from "./lines.ts"

export interface SocketLines {
  /** The next line that was received; undefined where none was yet. */
  readonly next: () => Line | undefined
  /** Waits until there may be another line; false where the peer's side of the connection has ended, however. */
  readonly more: Effect.Effect<boolean>
}

export interface Reading {
  /** The longest line that is taken, in bytes. */
  readonly maxBytes: number
  /**
   * Whether what stands after the last line feed is a line as well, where the peer ends its side. Of a connection
   * that breaks, it never is one.
   */
  readonly endsLastLine: boolean
}

/** An iterator of the socket would be no good: its end waits until something more is received. */
export const readLines = (socket: Socket, { endsLastLine, maxBytes }: Reading): SocketLines => {
  const lines = makeLineReader(maxBytes)
  let lastLineIsOpen = endsLastLine
  let wake = () => {}
  const onChange = () => wake()
  for (const event of ["readable", "end", "close"]) {
    socket.on(event, onChange)
  }
  // What went wrong is nobody's business: "close" follows.
  socket.on("error", () => {})
  const more = Effect.async<boolean>((resume) => {
    const done = (isMore: boolean) => {
      wake = () => {}
      resume(Effect.succeed(isMore))
    }
    wake = () => {
      const piece: Uint8Array | null = socket.read()
      if (piece !== null) {
        lines.push(piece)
        done(true)
      } else if (socket.readableEnded && lastLineIsOpen) {
        lastLineIsOpen = false
        lines.end()
        done(true)
      } else if (socket.readableEnded || socket.destroyed) {
        done(false)
      }
    }
    wake()
    return Effect.sync(() => {
      wake = () => {}
    })
  })
  return { next: lines.next, more }
}

/** All lines until the peer's side of the connection ends. What no line feed ends may be half of one, and is none. */
export const lineStream = (socket: Socket, maxBytes: number): Stream.Stream<Line> => {
  const { more, next } = readLines(socket, { maxBytes, endsLastLine: false })
  const received = () => {
    const lines: Array<Line> = []
    for (let line = next(); line !== undefined; line = next()) {
      lines.push(line)
    }
    return Chunk.unsafeFromArray(lines)
  }
  return Stream.repeatEffectChunkOption(
    Effect.flatMap(more, (isMore) => (isMore ? Effect.sync(received) : Effect.fail(Option.none())))
  )
}
