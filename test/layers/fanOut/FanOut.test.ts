import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import {
  type FanOutScheduler,
  makeFanOut as make,
  maxWaiting,
  maxWaitingLength
} from "../../../src/layers/fanOut/FanOut.ts"
import * as Received from "../../support/Received.ts"

/** A sink that keeps what it is sent. */
const makeSink = () => {
  const received = Received.make()
  const send = (frames: Uint8Array) => {
    received.append(frames)
    return true
  }
  return { received, sink: { begin: () => {}, send, queuedBytes: () => 0, end: received.end } }
}

/** A sink whose client takes nothing until it reads. */
const makeSlowSink = () => {
  let queued = 0
  return {
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

/** A scheduler that the test drives. */
const makeScheduler = () => {
  let now = 0
  let soon: Array<() => void> = []
  let timers: Array<{ readonly at: number; readonly task: () => void }> = []
  const turn = () => {
    const tasks = soon
    soon = []
    for (const task of tasks) task()
  }
  const runTimers = () => {
    const due = timers.filter(({ at }) => at <= now)
    timers = timers.filter(({ at }) => at > now)
    for (const { task } of due) task()
  }
  return {
    now: () => now,
    soon: (task: () => void) => {
      soon.push(task)
    },
    later: (task: () => void, milliseconds: number) => {
      timers.push({ at: now + milliseconds, task })
    },
    /** Lets one turn of the event loop pass. */
    turn,
    /** Lets time pass, with as many turns in each millisecond as there is something to do in. */
    advance: (milliseconds: number) => {
      const end = now + milliseconds
      while (now < end || soon.length > 0) {
        if (soon.length > 0) {
          turn()
        } else {
          now += 1
          runTimers()
        }
      }
    },
    isIdle: () => soon.length === 0 && timers.length === 0
  }
}

/** As much as is sent in one turn of the event loop. */
const batch = "x".repeat(64 * 1024)

const makeFanOut = (scheduler?: FanOutScheduler) => {
  const dropListener = { clientsDropped: 0, framesMissed: 0 }
  const fanOut = make(
    {
      dropped: (frames) => {
        dropListener.clientsDropped += 1
        dropListener.framesMissed += frames
      },
      missed: (clients) => {
        dropListener.framesMissed += clients
      }
    },
    scheduler
  )
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

  it.effect("sends a burst in batches, one for each turn of the event loop", () =>
    Effect.sync(() => {
      const scheduler = makeScheduler()
      const fanOut = makeFanOut(scheduler)
      const { received, sink } = makeSink()
      fanOut.join(sink)
      for (let number = 0; number < 3; number++) fanOut.add(batch)
      fanOut.flush()
      expect(received.text().length).toBe(batch.length)
      fanOut.flush()
      expect(received.text().length).toBe(batch.length)
      scheduler.turn()
      expect(received.text().length).toBe(2 * batch.length)
      scheduler.turn()
      expect(received.text().length).toBe(3 * batch.length)
      expect(scheduler.isIdle()).toBe(true)
    })
  )

  it.effect("waits with the next batch for a client that lags, 100 ms at most", () =>
    Effect.sync(() => {
      const scheduler = makeScheduler()
      const fanOut = makeFanOut(scheduler)
      const reader = makeSink()
      const slow = makeSlowSink()
      fanOut.join(reader.sink)
      fanOut.join(slow)
      for (let number = 0; number < 12; number++) fanOut.add(batch)
      fanOut.flush()
      scheduler.advance(50)
      expect(slow.queuedBytes()).toBe(5 * batch.length)

      // Read in time: the next batches follow.
      slow.read()
      scheduler.advance(1)
      expect(slow.queuedBytes()).toBe(5 * batch.length)

      // Not read: the others wait until the time is over, and no longer.
      scheduler.advance(99)
      expect(reader.received.text().length).toBe(10 * batch.length)
      scheduler.advance(1)
      expect(reader.received.text().length).toBe(12 * batch.length)
      expect(scheduler.isIdle()).toBe(true)
    })
  )
})
