/**
 * What a socket receives, line by line.
 */
import type { Socket } from "node:net"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { type Line, makeLineSplitter } from "./lines.ts"

/**
 * The lines that the peer sends, read no faster than they are taken. They end with the peer's side of the
 * connection, whatever becomes of it.
 */
export const socketLines = (socket: Socket, maxBytes: number): Stream.Stream<Line> =>
  Stream.mapConcat(pieces(socket), makeLineSplitter(maxBytes))

/** An iterator of the socket would be no good: its end waits until something more is received. */
const pieces = (socket: Socket): Stream.Stream<Uint8Array> => {
  let wake = () => {}
  const onChange = () => wake()
  for (const event of ["readable", "end", "close"]) {
    socket.on(event, onChange)
  }
  // What went wrong is nobody's business: "close" follows.
  socket.on("error", () => {})
  return Stream.repeatEffectOption(
    Effect.async<Uint8Array, Option.Option<never>>((resume) => {
      wake = () => {
        const piece: Uint8Array | null = socket.read()
        if (piece !== null) {
          wake = () => {}
          resume(Effect.succeed(piece))
        } else if (socket.readableEnded || socket.destroyed) {
          wake = () => {}
          resume(Effect.fail(Option.none()))
        }
      }
      wake()
      return Effect.sync(() => {
        wake = () => {}
      })
    })
  )
}
