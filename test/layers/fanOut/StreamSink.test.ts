import { describe, expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { maxQueuedBytes } from "../../../src/layers/fanOut/FanOut.ts"
import { makeStreamSink, type StreamSink } from "../../../src/layers/fanOut/StreamSink.ts"

/** The frames that the client receives. */
const framesOf = ({ backlog, live, received }: StreamSink) =>
  Stream.mapChunks(Stream.concat(backlog, live), received)

const sizes = (frames: Stream.Stream<Uint8Array>) =>
  Effect.map(Stream.runCollect(frames), (chunk) => Chunk.toArray(chunk).map(({ length }) => length))

describe("StreamSink", () => {
  it.effect("drops a client that lags too far behind, without counting its backlog", () =>
    Effect.gen(function* () {
      const client = yield* makeStreamSink
      const { begin, queuedBytes, send } = client.sink
      begin(new Uint8Array(10))
      expect(send(new Uint8Array(maxQueuedBytes))).toBe(true)
      expect(queuedBytes()).toBe(maxQueuedBytes + 10)
      expect(send(new Uint8Array(1))).toBe(false)
      expect(yield* sizes(framesOf(client))).toEqual([10, maxQueuedBytes])
    })
  )

  it.effect("accepts a frame of any size if the queue is empty, and then the usual amount", () =>
    Effect.gen(function* () {
      const client = yield* makeStreamSink
      const { begin, end, queuedBytes, send } = client.sink
      begin(new Uint8Array(1))
      const taken: Array<number> = []
      yield* Stream.runForEach(framesOf(client), ({ length }) =>
        Effect.sync(() => {
          if (taken.push(length) === 1) {
            expect(queuedBytes()).toBe(0)
            expect(send(new Uint8Array(maxQueuedBytes + 1))).toBe(true)
            expect(send(new Uint8Array(maxQueuedBytes))).toBe(true)
            expect(send(new Uint8Array(1))).toBe(false)
            end()
          }
        })
      )
      expect(taken).toEqual([1, maxQueuedBytes + 1, maxQueuedBytes])
    })
  )
})
