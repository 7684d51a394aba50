import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { makeOutbox as make, maxWaiting, maxWaitingLength } from "../../../src/layers/fanOut/FanOut.ts"
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

const makeOutbox = () => {
  const losses = { clientsDropped: 0, framesMissed: 0 }
  const outbox = make({
    dropped: () => {
      losses.clientsDropped += 1
    },
    missed: (frames) => {
      losses.framesMissed += frames
    }
  })
  return { ...outbox, losses }
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `${from + index}\n`)

describe("Outbox", () => {
  it.effect("lets everybody miss the oldest of more frames than may wait", () =>
    Effect.gen(function* () {
      const outbox = makeOutbox()
      const { received, sink } = makeSink()
      outbox.join(sink)
      for (const frame of numbers(0, maxWaiting + 100)) outbox.add(frame)
      outbox.handOut()
      const text = yield* received.until((text) => text.endsWith(`\n${maxWaiting + 99}\n`))
      expect(text).toBe(numbers(100, maxWaiting + 100).join(""))
      expect(outbox.losses).toEqual({ clientsDropped: 0, framesMissed: 100 })
    })
  )

  it.effect("gives who joins amid waiting frames what is added afterwards, and no more", () =>
    Effect.gen(function* () {
      const outbox = makeOutbox()
      const [first, second, gone] = [makeSink(), makeSink(), makeSink()]
      outbox.join(first.sink)
      for (const frame of numbers(0, 5000)) outbox.add(frame)
      outbox.join(second.sink)
      outbox.join(gone.sink)
      outbox.leave(gone.sink)
      outbox.add("after\n")
      outbox.handOut()
      expect(yield* second.received.until((text) => text.endsWith("after\n"))).toBe("after\n")
      expect(first.received.text().endsWith("4999\nafter\n")).toBe(true)
      expect(gone.received.text()).toBe("")
    })
  )

  it.effect("sends nothing more to a sink that gives its client up, and counts the loss", () =>
    Effect.sync(() => {
      const outbox = makeOutbox()
      let offers = 0
      const send = () => {
        offers += 1
        return false
      }
      outbox.join({ send, queuedBytes: () => 0 })
      outbox.add("one")
      outbox.add("two")
      outbox.handOut()
      outbox.add("three")
      outbox.handOut()
      expect(offers).toBe(1)
      expect(outbox.losses).toEqual({ clientsDropped: 1, framesMissed: 2 })
    })
  )

  it.effect("lets everybody miss the oldest of more text than may wait", () =>
    Effect.sync(() => {
      const outbox = makeOutbox()
      outbox.join(makeSink().sink)
      const frame = "x".repeat(maxWaitingLength / 8)
      for (let number = 0; number < 11; number++) outbox.add(frame)
      expect(outbox.losses).toEqual({ clientsDropped: 0, framesMissed: 3 })
    })
  )

  it.effect("waits with the next piece for who is behind, but not for ever", () =>
    Effect.gen(function* () {
      const outbox = makeOutbox()
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
      outbox.join(reader.sink)
      outbox.join(slow)
      const frame = "x".repeat(64 * 1024)
      for (let number = 0; number < 12; number++) outbox.add(frame)
      outbox.handOut()
      yield* eventually(Effect.sync(() => queued === 5 * frame.length))
      yield* Effect.replicateEffect(eventLoopTurn, 10)
      expect(queued).toBe(5 * frame.length)
      queued = 0
      yield* eventually(Effect.sync(() => queued === 5 * frame.length))
      yield* reader.received.until((text) => text.length === 12 * frame.length)
    })
  )
})
