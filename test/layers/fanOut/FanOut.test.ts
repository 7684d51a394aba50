import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { makeFanOut as make, maxWaiting, maxWaitingLength } from "../../../src/layers/fanOut/FanOut.ts"
import * as Received from "../../support/Received.ts"
import { eventLoopTurn, eventually } from "../../support/waiting.ts"

/** A sink that keeps what it is sent. */
const makeSink = () => {
  const received = Received.make()
  const send = (frames: Uint8Array) => {
    received.append(frames)
    return true
  }
  return { received, sink: { begin: () => {}, send, queuedBytes: () => 0, end: received.end } }
}

const makeFanOut = () => {
  const dropListener = { clientsDropped: 0, framesMissed: 0 }
  const fanOut = make({
    dropped: () => {
      dropListener.clientsDropped += 1
    },
    missed: (frames) => {
      dropListener.framesMissed += frames
    }
  })
  return { ...fanOut, dropListener }
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `${from + index}\n`)

describe("FanOut", () => {
  it.effect("lets everybody miss the oldest of more frames than may wait", () =>
    Effect.gen(function* () {
      const fanOut = makeFanOut()
      const { received, sink } = makeSink()
      fanOut.join(sink)
      for (const frame of numbers(0, maxWaiting + 100)) fanOut.add(frame)
      fanOut.flush()
      const text = yield* received.until((text) => text.endsWith(`\n${maxWaiting + 99}\n`))
      expect(text).toBe(numbers(100, maxWaiting + 100).join(""))
      expect(fanOut.dropListener).toEqual({ clientsDropped: 0, framesMissed: 100 })
    })
  )

  it.effect("gives who joins amid waiting frames what is added afterwards, and no more", () =>
    Effect.gen(function* () {
      const fanOut = makeFanOut()
      const [first, second, gone] = [makeSink(), makeSink(), makeSink()]
      fanOut.join(first.sink)
      for (const frame of numbers(0, 5000)) fanOut.add(frame)
      fanOut.join(second.sink)
      fanOut.join(gone.sink)
      fanOut.leave(gone.sink)
      fanOut.add("after\n")
      fanOut.flush()
      expect(yield* second.received.until((text) => text.endsWith("after\n"))).toBe("after\n")
      expect(first.received.text().endsWith("4999\nafter\n")).toBe(true)
      expect(gone.received.text()).toBe("")
    })
  )

  it.effect("sends nothing more to a sink that gives its client up, and counts the loss", () =>
    Effect.sync(() => {
      const fanOut = makeFanOut()
      let offers = 0
      const send = () => {
        offers += 1
        return false
      }
      fanOut.join({ send, queuedBytes: () => 0 })
      fanOut.add("one")
      fanOut.add("two")
      fanOut.flush()
      fanOut.add("three")
      fanOut.flush()
      expect(offers).toBe(1)
      expect(fanOut.dropListener).toEqual({ clientsDropped: 1, framesMissed: 2 })
    })
  )

  it.effect("lets everybody miss the oldest of more text than may wait", () =>
    Effect.sync(() => {
      const fanOut = makeFanOut()
      fanOut.join(makeSink().sink)
      const frame = "x".repeat(maxWaitingLength / 8)
      for (let number = 0; number < 11; number++) fanOut.add(frame)
      expect(fanOut.dropListener).toEqual({ clientsDropped: 0, framesMissed: 3 })
    })
  )

  it.effect("waits with the next piece for who is behind, but not for ever", () =>
    Effect.gen(function* () {
      const fanOut = makeFanOut()
      const reader = makeSink()
      let queued = 0
      const slow = {
        ...makeSink().sink,
        send: (frames: Uint8Array) => {
          queued += frames.length
          return true
        },
        queuedBytes: () => queued
      }
      fanOut.join(reader.sink)
      fanOut.join(slow)
      const frame = "x".repeat(64 * 1024)
      for (let number = 0; number < 12; number++) fanOut.add(frame)
      fanOut.flush()
      yield* eventually(Effect.sync(() => queued === 5 * frame.length))
      yield* Effect.replicateEffect(eventLoopTurn, 10)
      expect(queued).toBe(5 * frame.length)
      queued = 0
      yield* eventually(Effect.sync(() => queued === 5 * frame.length))
      yield* reader.received.until((text) => text.length === 12 * frame.length)
    })
  )
})
