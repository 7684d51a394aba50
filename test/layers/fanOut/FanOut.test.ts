import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import { makeFanOut as make } from "../../../src/layers/fanOut/FanOut.ts"
import * as Received from "../../support/Received.ts"
import { eventLoopTurn, somebodySleeps } from "../../support/waiting.ts"

/** A sink that keeps its frames. */
const makeSink = () => {
  const received = Received.make()
  const send = (frames: Uint8Array) => {
    received.append(frames)
    return true
  }
  return { received, sink: { begin: () => {}, send, queuedBytes: () => 0, end: received.end } }
}

/** A sink whose client reads nothing until `read` is called. */
const makeSlowSink = () => {
  let queued = 0
  return {
    begin: () => {},
    end: () => {},
    send: (frames: Uint8Array) => {
      queued += frames.length
      return true
    },
    queuedBytes: () => queued,
    read: () => {
      queued = 0
    }
  }
}

/** As much as is sent in one turn of the event loop. */
const batch = "x".repeat(64 * 1024)

const makeFanOut = () => {
  const drops: Array<number> = []
  return { ...make((_client, missed) => drops.push(missed)), drops }
}

const numbers = (count: number) => Array.from({ length: count }, (_, number) => `${number}\n`)

describe("FanOut", () => {
  it.effect("sends frames to all clients in order", () =>
    Effect.gen(function* () {
      const fanOut = makeFanOut()
      const [first, second] = [makeSink(), makeSink()]
      fanOut.join(first.sink)
      fanOut.join(second.sink)
      yield* fanOut.send(numbers(3).values())
      expect(first.received.text()).toBe("0\n1\n2\n")
      expect(second.received.text()).toBe("0\n1\n2\n")
    })
  )

  it("keeps the place of a client whose stream has ended until its connection closes", () => {
    const fanOut = makeFanOut()
    const [open, closed] = [{ ...makeSink().sink, leavesLater: true }, makeSink().sink]
    for (const sink of [open, closed]) {
      fanOut.join(sink)
    }
    fanOut.endAll()
    expect([fanOut.size(), fanOut.places()]).toEqual([0, 1])
    fanOut.leave(open)
    expect([fanOut.size(), fanOut.places()]).toEqual([0, 0])
  })

  it.effect("sends all received frames before the streams end", () =>
    Effect.gen(function* () {
      const fanOut = makeFanOut()
      const { received, sink } = makeSink()
      fanOut.join(sink)
      const frames = function* () {
        yield* numbers(2)
        fanOut.endAll()
        yield* numbers(1)
      }
      yield* fanOut.send(frames())
      expect(yield* received.whole).toBe("0\n1\n")
      expect(fanOut.size()).toBe(0)
    })
  )

  it.effect("sends later frames only to a client that joins between two batches", () =>
    Effect.gen(function* () {
      const fanOut = makeFanOut()
      const [first, second, gone] = [makeSink(), makeSink(), makeSink()]
      fanOut.join(first.sink)
      const sending = yield* Effect.fork(fanOut.send([batch, "after\n"].values()))
      yield* Effect.yieldNow()
      expect(first.received.text()).toBe(batch)
      fanOut.join(second.sink)
      fanOut.join(gone.sink)
      fanOut.leave(gone.sink)
      yield* Fiber.join(sending)
      expect(second.received.text()).toBe("after\n")
      expect(first.received.text()).toBe(`${batch}after\n`)
      expect(gone.received.text()).toBe("")
    })
  )

  it.effect("sends nothing more to a sink that drops its client, and counts the loss", () =>
    Effect.gen(function* () {
      const fanOut = makeFanOut()
      let offers = 0
      const send = () => {
        offers += 1
        return false
      }
      fanOut.join({ ...makeSink().sink, send })
      yield* fanOut.send(["one", "two"].values())
      yield* fanOut.send(["three"].values())
      expect(offers).toBe(1)
      expect(fanOut.drops).toEqual([2])
    })
  )

  it.effect("ends all streams, and also those of clients that join after its close", () =>
    Effect.gen(function* () {
      const fanOut = makeFanOut()
      const [first, second, back, late] = [makeSink(), makeSink(), makeSink(), makeSink()]
      expect([fanOut.join(first.sink), fanOut.join(second.sink)]).toEqual([true, true])
      fanOut.endAll()
      expect(fanOut.drops).toEqual([0, 0])
      expect(fanOut.join(back.sink)).toBe(true)
      yield* fanOut.send(["again\n"].values())
      fanOut.close()
      expect(fanOut.drops).toEqual([0, 0, 0])
      expect(fanOut.join(late.sink)).toBe(false)
      expect(fanOut.size()).toBe(0)
      const texts = yield* Effect.forEach([first, second, back, late], ({ received }) => received.whole)
      expect(texts).toEqual(["", "", "again\n", ""])
    })
  )

  it.effect("sends a burst in batches, one for each turn of the event loop", () =>
    Effect.gen(function* () {
      const fanOut = makeFanOut()
      const { received, sink } = makeSink()
      fanOut.join(sink)
      const sending = yield* Effect.fork(fanOut.send([batch, batch, batch].values()))
      yield* Effect.yieldNow()
      expect(received.text().length).toBe(batch.length)
      yield* eventLoopTurn
      expect(received.text().length).toBeLessThan(3 * batch.length)
      yield* Fiber.join(sending)
      expect(received.text().length).toBe(3 * batch.length)
    })
  )

  it.effect("waits with the next batch for a lagging client, at most 100 ms", () =>
    Effect.gen(function* () {
      const fanOut = makeFanOut()
      const reader = makeSink()
      const slow = makeSlowSink()
      fanOut.join(reader.sink)
      fanOut.join(slow)
      const sending = yield* Effect.fork(fanOut.send(Array.from({ length: 12 }, () => batch).values()))
      yield* somebodySleeps
      yield* TestClock.adjust(50)
      yield* somebodySleeps
      expect(slow.queuedBytes()).toBe(5 * batch.length)

      // The client reads in time: the next batches follow.
      slow.read()
      yield* TestClock.adjust(1)
      yield* somebodySleeps
      expect(slow.queuedBytes()).toBe(5 * batch.length)

      // The client does not read: the others wait until the time limit, and no longer.
      yield* TestClock.adjust(99)
      yield* somebodySleeps
      expect(reader.received.text().length).toBe(10 * batch.length)
      yield* TestClock.adjust(1)
      yield* Fiber.join(sending)
      expect(reader.received.text().length).toBe(12 * batch.length)
    })
  )
})
