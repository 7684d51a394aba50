/**
 * Streams whose chunks are dealt with in one synchronous function.
 */
import * as Channel from "effect/Channel"
import type * as Chunk from "effect/Chunk"
import type * as Effect from "effect/Effect"
import * as Sink from "effect/Sink"
import * as Stream from "effect/Stream"

/**
 * `Stream.runForEachChunk` for a function that seldom has an Effect to run, and gives `undefined` otherwise. In a process
 * that sleeps from chunk to chunk, one costs about half.
 */
export const runChunks = <A, E, R, E2 = never, R2 = never>(
  stream: Stream.Stream<A, E, R>,
  onChunk: (chunk: Chunk.Chunk<A>) => Effect.Effect<void, E2, R2> | undefined
): Effect.Effect<void, E | E2, R | R2> => {
  const reader: Channel.Channel<never, Chunk.Chunk<A>, E2, never, void, unknown, R2> = Channel.readWithCause({
    onInput: (chunk: Chunk.Chunk<A>) => {
      const effect = onChunk(chunk)
      return effect === undefined ? reader : Channel.zipRight(Channel.fromEffect(effect), reader)
    },
    onFailure: Channel.failCause,
    onDone: () => Channel.void
  })
  return Stream.run(stream, Sink.fromChannel(reader))
}
