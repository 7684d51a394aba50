import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import * as TestContext from "effect/TestContext"
import { maxEvents, maxEventsSize } from "../../../src/internal/keptEvents.ts"
import type { FrameSink } from "../../../src/layers/fanOut/FanOut.ts"
import * as SseFrame from "../../../src/layers/http/SseFrame.ts"
import { unsendable } from "../../../src/layers/httpTransport/EventEncoder.ts"
import * as EventStream from "../../../src/layers/httpTransport/EventStream.ts"
import { makeRecorder } from "../../../src/layers/httpTransport/statistics.ts"
import * as EventBusMemory from "../../../src/layers/memory/EventBusMemory.ts"
import * as ReplayBacklogMemory from "../../../src/layers/memory/ReplayBacklogMemory.ts"
import { EventBus } from "../../../src/services/EventBus.ts"
import { type RememberedEvent, ReplayBacklog } from "../../../src/services/ReplayBacklog.ts"
import * as eventEngine from "../../support/eventEngine.ts"
import { messages } from "../../support/eventStream.ts"
import { withLog } from "../../support/logged.ts"
import * as Received from "../../support/Received.ts"
import { eventLoopTurn, eventually, somebodySleeps } from "../../support/waiting.ts"

const options: EventStream.Options = {
  subject: "The HTTP transport",
  unsendable,
  makeRecorder: (now) => makeRecorder("screens", now),
  events: ["content:*"],
  replayEvents: ["content:a", "content:b", "other:c"],
  keepAliveMs: 15_000,
  maxClients: 100
}

const inMemory = Layer.merge(EventBusMemory.layer, ReplayBacklogMemory.layer)

/** With a backlog that takes its time, as one on another machine would. */
const remote = Layer.merge(
  EventBusMemory.layer,
  Layer.effect(
    ReplayBacklog,
    Effect.map(ReplayBacklogMemory.make, ({ remember, snapshot }) => ({
      remember: (event) => Effect.zipRight(Effect.yieldNow(), remember(event)),
      snapshot: Effect.zipLeft(snapshot, Effect.yieldNow())
    }))
  )
)

/** A client that keeps what it is sent. */
const makeClient = () => {
  const received = Received.make()
  const sends: Array<number> = []
  const sink: FrameSink = {
    begin: received.append,
    queuedBytes: () => 0,
    send: (frames) => {
      sends.push(frames.length)
      received.append(frames)
      return true
    },
    end: received.end
  }
  return { received, sends, sink }
}

/** A client that has joined. */
const join = (stream: EventStream.Sockets) =>
  Effect.suspend(() => {
    const client = makeClient()
    return Effect.as(stream.join(client.sink), client)
  })

const publish = (name: string, payload: unknown) =>
  Effect.flatMap(EventBus, (bus) => bus.publish(name, payload))

interface Emission {
  readonly name: string
  readonly number: number
}

const isForwarded = ({ name }: Emission) => name.startsWith("content:") && !name.includes("\n")

const message = ({ name, number }: Emission) => ({ event: name, data: String(number) })

/** What a client is sent who joins when the stream has handled so many of the emissions. */
const expected = (emissions: ReadonlyArray<Emission>, handled: number) => {
  const before = emissions.slice(0, handled).filter(isForwarded)
  const backlog = before.filter(
    ({ name }, index) =>
      options.replayEvents.includes(name) && !before.slice(index + 1).some((later) => later.name === name)
  )
  return [...backlog, ...emissions.slice(handled).filter(isForwarded)].map(message)
}

const isOver = (text: string) => text.includes("event: content:over\n")

const emission = FastCheck.constantFrom(
  "content:a",
  "content:b",
  "content:live",
  "other:c",
  "content:bad\nname"
).map((name) => ({ type: "emit", name }) as const)

/** Many emissions, some joins, and moments in which the stream can catch up. */
const steps = FastCheck.array(
  FastCheck.oneof(
    { arbitrary: emission, weight: 5 },
    { arbitrary: FastCheck.constant({ type: "join" } as const), weight: 2 },
    { arbitrary: FastCheck.constant({ type: "yield" } as const), weight: 2 },
    { arbitrary: FastCheck.constant({ type: "turn" } as const), weight: 1 }
  ),
  { maxLength: 40 }
)

/** Emissions of names that are forwarded, joins, and time that passes. */
const overTime = FastCheck.array(
  FastCheck.oneof(
    FastCheck.constantFrom("content:a", "content:b", "content:live").map(
      (name) => ({ type: "emit", name }) as const
    ),
    FastCheck.constant({ type: "join" } as const),
    FastCheck.integer({ min: 1, max: 3000 }).map((millis) => ({ type: "wait", millis }) as const)
  ),
  { maxLength: 20 }
)

describe("EventStream", () => {
  for (const [kind, services] of [
    ["in memory", inMemory],
    ["elsewhere", remote]
  ] as const) {
    it.effect.prop(
      `sends every client the backlog, then live events, with a backlog ${kind}`,
      [steps],
      ([steps]) =>
        Effect.gen(function* () {
          const stream = yield* EventStream.makeSockets(options)
          const first = yield* join(stream)
          const emissions: Array<Emission> = []
          const clients = [{ emittedBefore: 0, received: first.received }]
          const emit = (name: string) => {
            const number = emissions.length
            emissions.push({ name, number })
            return publish(name, number)
          }
          for (const step of steps) {
            switch (step.type) {
              case "emit":
                yield* emit(step.name)
                break
              case "join":
                clients.push({ emittedBefore: emissions.length, received: (yield* join(stream)).received })
                break
              case "yield":
                yield* Effect.yieldNow()
                break
              case "turn":
                yield* eventLoopTurn
            }
          }
          yield* emit("content:over")
          for (const { emittedBefore, received } of clients) {
            const seen = messages(Buffer.from(yield* received.until(isOver)))
            const possible = Array.from({ length: emittedBefore + 1 }, (_, handled) =>
              expected(emissions, handled)
            )
            expect(received.text().startsWith(SseFrame.retry)).toBe(true)
            expect(possible).toContainEqual(seen)
          }
          const last = yield* join(stream)
          expect(messages(last.received.bytes())).toEqual(expected(emissions, emissions.length))
        }).pipe(Effect.scoped, Effect.provide(services)),
      { fastCheck: { numRuns: 20 } }
    )
  }

  it.effect.prop(
    "has no gap and no overlap for clients that join while another fiber emits",
    [FastCheck.array(FastCheck.tuple(emission, FastCheck.nat(2)), { minLength: 10, maxLength: 60 })],
    ([script]) =>
      Effect.gen(function* () {
        const stream = yield* EventStream.makeSockets(options)
        const emissions = script.map(([{ name }], number) => ({ name, number }))
        const emitter = yield* Effect.fork(
          Effect.forEach(script, ([{ name }, yields], number) =>
            Effect.zipRight(publish(name, number), Effect.repeatN(Effect.yieldNow(), yields))
          )
        )
        const clients = yield* Effect.forEach(Array.from({ length: 20 }), () =>
          Effect.zipLeft(join(stream), Effect.yieldNow())
        )
        yield* Fiber.join(emitter)
        yield* publish("content:over", emissions.length)
        const all = [...emissions, { name: "content:over", number: emissions.length }]
        const possible = all.map((_, handled) => expected(all, handled))
        for (const { received } of clients) {
          expect(possible).toContainEqual(messages(Buffer.from(yield* received.until(isOver))))
        }
      }).pipe(Effect.scoped, Effect.provide(remote)),
    { fastCheck: { numRuns: 20 } }
  )

  it.scoped("receives events from its creation on", () =>
    Effect.gen(function* () {
      const stream = yield* EventStream.makeSockets(options)
      yield* publish("content:a", { versionId: "20260101T000000Z" })
      yield* publish("content:live", "unseen")
      yield* eventLoopTurn
      const { received } = yield* join(stream)
      expect(received.text()).toBe(
        'retry: 2000\n\nevent: content:a\ndata: {"versionId":"20260101T000000Z"}\n\n'
      )
    }).pipe(Effect.provide(inMemory))
  )

  it.scoped("delivers a burst completely and in order, in batches, also to clients that join meanwhile", () =>
    Effect.gen(function* () {
      const stream = yield* EventStream.makeSockets(options)
      const client = yield* join(stream)
      const text = "x".repeat(1000)
      const late = yield* Effect.fork(
        Effect.zipRight(
          client.received.until((text) => text.includes('data: [100,"')),
          join(stream)
        )
      )
      yield* Effect.forEach(Array.from({ length: 1000 }), (_, number) =>
        publish("content:live", [number, text])
      )
      yield* publish("content:a", "y".repeat(200_000))
      const { received } = yield* Fiber.join(late)
      yield* publish("content:over", null)
      const seen = messages(Buffer.from(yield* client.received.until(isOver)))
      expect(seen.slice(0, -2)).toEqual(
        Array.from({ length: 1000 }, (_, number) => ({
          event: "content:live",
          data: JSON.stringify([number, text])
        }))
      )
      expect(seen.at(-2)?.data).toHaveLength(200_002)
      expect(client.sends.length).toBeGreaterThan(10)
      const seenLate = messages(Buffer.from(yield* received.until(isOver)))
      expect(seenLate).toEqual(seen.slice(-seenLate.length))
    }).pipe(Effect.scoped, Effect.provide(inMemory))
  )

  it.scoped("remembers replayed events, however many others are published at once", () =>
    Effect.gen(function* () {
      const stream = yield* EventStream.makeSockets(options)
      const flood = (number: number) =>
        Effect.forEach(Array.from({ length: number }), () => publish("content:live", "x".repeat(200)), {
          discard: true
        })
      yield* flood(10)
      yield* publish("content:a", "remembered")
      yield* flood(20_000)
      const early = yield* join(stream)
      yield* publish("content:over", null)
      expect(yield* early.received.until(isOver)).toContain('event: content:a\ndata: "remembered"\n\n')
    }).pipe(Effect.scoped, Effect.provide(inMemory))
  )

  it.scoped("encodes a frame once for all clients", () =>
    Effect.gen(function* () {
      const stream = yield* EventStream.makeSockets(options)
      const clients = [yield* join(stream), yield* join(stream), yield* join(stream)]
      let encoded = 0
      yield* publish("content:live", { toJSON: () => ++encoded })
      for (const { received } of clients) {
        expect(yield* received.until((text) => text.includes("data"))).toContain("data: 1\n\n")
      }
      expect(encoded).toBe(1)
    }).pipe(Effect.provide(inMemory))
  )

  it.scoped("continues after a payload that cannot be encoded", () =>
    Effect.gen(function* () {
      const { received } = yield* join(yield* EventStream.makeSockets(options))
      const hostile = Object.assign(() => {}, {
        toJSON: () => {
          throw new Error("no")
        }
      })
      yield* publish("content:live", hostile)
      yield* publish("content:over", 1n)
      expect(messages(Buffer.from(yield* received.until(isOver)))).toEqual([
        { event: "content:live", data: '"[Unserializable]"' },
        { event: "content:over", data: '"[BigInt 1]"' }
      ])
    }).pipe(Effect.provide(inMemory))
  )

  it.scoped("encodes no live event without a client", () =>
    Effect.gen(function* () {
      const stream = yield* EventStream.makeSockets(options)
      let encoded = 0
      const payload = { toJSON: () => encoded++ }
      yield* publish("content:live", payload)
      yield* publish("content:a", payload)
      yield* eventually(Effect.map(stream.statistics, ({ eventsForwarded }) => eventsForwarded === 2))
      expect(encoded).toBe(1)
      yield* join(stream)
      yield* publish("content:live", payload)
      yield* eventually(Effect.sync(() => encoded === 2))
    }).pipe(Effect.provide(inMemory))
  )

  it.scoped("continues if the backlog fails, and logs that once", () => {
    const lines: Array<string> = []
    const broken = Layer.succeed(ReplayBacklog, {
      remember: () => Effect.die(new Error("no connection")),
      snapshot: Effect.succeed([])
    })
    return Effect.gen(function* () {
      const { received } = yield* join(yield* EventStream.makeSockets(options))
      yield* publish("content:a", 1)
      yield* publish("content:a", 2)
      yield* publish("content:over", 3)
      expect(messages(Buffer.from(yield* received.until(isOver))).map(({ data }) => data)).toEqual([
        "1",
        "2",
        "3"
      ])
      expect(lines).toEqual([expect.stringMatching(/^WARN The replay backlog fails, .*: no connection$/)])
    }).pipe(withLog(lines), Effect.provide(Layer.merge(EventBusMemory.layer, broken)))
  })

  it.scoped("logs a failing backlog once until it works again, whatever the message is", () => {
    const lines: Array<string> = []
    const failing = Layer.effect(
      ReplayBacklog,
      Effect.map(ReplayBacklogMemory.make, (memory) => {
        let attempts = 0
        return ReplayBacklog.of({
          ...memory,
          remember: (event) =>
            event.data === '"works"'
              ? memory.remember(event)
              : Effect.die(new Error(`cannot write /tmp/backlog-${++attempts}`))
        })
      })
    )
    return Effect.gen(function* () {
      const stream = yield* EventStream.makeSockets(options)
      const { received } = yield* join(stream)
      for (const payload of ["a", "b", "works", "c", "d", "over"]) {
        yield* publish("content:a", payload)
        yield* received.until((text) => text.includes(`data: "${payload}"`))
        yield* TestClock.adjust("1 minute")
      }
      expect(lines).toEqual([
        expect.stringMatching(/^WARN The replay backlog fails, .*backlog-1$/),
        expect.stringMatching(/^WARN The replay backlog fails, .*backlog-\d+$/)
      ])
    }).pipe(Effect.provide(Layer.merge(EventBusMemory.layer, failing)), withLog(lines))
  })

  it.scoped("shortens long names in the log", () => {
    const lines: Array<string> = []
    return Effect.gen(function* () {
      const stream = yield* EventStream.makeSockets(options)
      const { received } = yield* join(stream)
      yield* publish(`content:\n\u009b31m\u202e${"x".repeat(1_000_000)}`, 1)
      yield* publish("content:over", 2)
      yield* received.until(isOver)
      expect(lines).toEqual([
        expect.stringMatching(/^WARN Events named "content:\\n 31m\ufffdx{50,100}… are/)
      ])
    }).pipe(Effect.provide(inMemory), withLog(lines))
  })

  it.scoped("ends all streams if an event cannot be forwarded, logs it, and continues", () => {
    const lines: Array<string> = []
    return Effect.gen(function* () {
      const stream = yield* EventStream.makeSockets(options)
      const { received } = yield* join(stream)
      const { sink } = makeClient()
      yield* stream.join({
        ...sink,
        send: () => {
          throw new Error("a defect")
        }
      })
      yield* publish("content:live", 1)
      yield* received.whole
      expect((yield* stream.statistics).clients).toBe(0)
      expect(lines).toEqual([expect.stringMatching(/^ERROR An event could not be forwarded/)])
      const next = yield* join(stream)
      yield* publish("content:over", 2)
      expect(yield* next.received.until(isOver)).toContain("data: 2\n\n")
    }).pipe(Effect.provide(inMemory), withLog(lines))
  })

  it.scoped("opens streams after five seconds if the backlog does not respond, and logs that", () => {
    const lines: Array<string> = []
    const answer = Deferred.unsafeMake<ReadonlyArray<RememberedEvent>>(FiberId.none)
    const silent = Layer.succeed(ReplayBacklog, {
      remember: () => Effect.void,
      snapshot: Deferred.await(answer)
    })
    return Effect.gen(function* () {
      const making = yield* Effect.fork(EventStream.makeSockets(options))
      yield* somebodySleeps
      yield* TestClock.adjust("5 seconds")
      const stream = yield* Fiber.join(making)
      expect(lines).toEqual([
        expect.stringMatching(/^WARN The replay backlog cannot be read, .*: no response within 5 seconds$/)
      ])
      const { received } = yield* join(stream)
      yield* publish("content:live", 0)
      yield* received.until((text) => text === "retry: 2000\n\nevent: content:live\ndata: 0\n\n")
      yield* Deferred.succeed(answer, [{ name: "content:a", data: "0", sequence: 0 }])
      yield* TestClock.adjust("2 seconds")
      yield* received.whole
      expect(received.text()).toBe("retry: 2000\n\nevent: content:live\ndata: 0\n\n")
      const { received: next } = yield* join(stream)
      expect(next.text()).toBe("retry: 2000\n\nevent: content:a\ndata: 0\n\n")
    }).pipe(Effect.provide(Layer.merge(EventBusMemory.layer, silent)), withLog(lines))
  })

  it.scoped("refuses a client above the limit, until one disconnects", () =>
    Effect.gen(function* () {
      const stream = yield* EventStream.makeSockets({ ...options, maxClients: 2 })
      const first = yield* join(stream)
      yield* join(stream)
      const { received, sink } = makeClient()
      const error = yield* Effect.flip(stream.join(sink))
      expect(error).toMatchObject({ _tag: "vitrine/TooManyClients" })
      expect(error.message).toContain("2 event streams")
      expect(received.text()).toBe("")
      expect((yield* stream.statistics).clients).toBe(2)
      stream.leave(sink)
      expect((yield* stream.statistics).clients).toBe(2)
      stream.leave(first.sink)
      stream.leave(first.sink)
      expect((yield* stream.statistics).clients).toBe(1)
      yield* stream.join(sink)
      expect((yield* stream.statistics).clients).toBe(2)
    }).pipe(Effect.provide(inMemory))
  )

  it.scoped("counts a client whose stream has ended until its connection closes", () => {
    const { endFeeds, layer } = eventEngine.make().instance()
    return Effect.gen(function* () {
      const stream = yield* EventStream.makeSockets({ ...options, maxClients: 1 })
      const { received, sink } = makeClient()
      const unread = { ...sink, leavesLater: true }
      yield* stream.join(unread)
      endFeeds("ends")
      yield* received.whole
      expect(yield* Effect.flip(join(stream))).toMatchObject({ _tag: "vitrine/TooManyClients" })
      stream.leave(unread)
      yield* join(stream)
    }).pipe(Effect.provide(layer), withLog([]))
  })

  it.scoped("never exceeds the limit when many clients join at once", () =>
    Effect.gen(function* () {
      const stream = yield* EventStream.makeSockets({ ...options, maxClients: 3 })
      const exits = yield* Effect.all(
        Array.from({ length: 10 }, () => Effect.exit(join(stream))),
        { concurrency: "unbounded" }
      )
      expect(exits.filter(Exit.isSuccess)).toHaveLength(3)
      expect((yield* stream.statistics).clients).toBe(3)
    }).pipe(Effect.provide(remote))
  )

  it.scoped("skips names that would break a frame, and logs each once, a hundred at most", () => {
    const lines: Array<string> = []
    return Effect.gen(function* () {
      const { received } = yield* join(yield* EventStream.makeSockets(options))
      for (const name of ["content:\ndata: x", "content:\r", "content:\0", "content:\r", "other:\n"]) {
        yield* publish(name, 1)
        yield* publish(name, 2)
      }
      yield* publish("content:over", 3)
      expect(yield* received.until(isOver)).toBe("retry: 2000\n\nevent: content:over\ndata: 3\n\n")
      expect(lines).toEqual(
        ['"content:\\ndata: x"', '"content:\\r"', '"content:\\u0000"'].map((name) =>
          expect.stringContaining(`WARN Events named ${name} are not forwarded`)
        )
      )
      yield* Effect.forEach(Array.from({ length: 200 }), (_, number) => publish(`content:\n${number}`, 1))
      yield* publish("content:over", 4)
      yield* received.until((text) => text.includes("data: 4"))
      expect(lines).toHaveLength(100)
    }).pipe(withLog(lines), Effect.provide(inMemory))
  })

  it.scoped("skips names that a page takes for a lost connection, and says so once", () => {
    const lines: Array<string> = []
    return Effect.gen(function* () {
      const stream = yield* EventStream.makeSockets({ ...options, events: ["*"], replayEvents: ["error"] })
      const { received } = yield* join(stream)
      for (const name of ["error", "open", "error", "message", "errors"]) {
        yield* publish(name, 1)
      }
      expect(yield* received.until((text) => text.includes("event: errors\n"))).toBe(
        "retry: 2000\n\nevent: message\ndata: 1\n\nevent: errors\ndata: 1\n\n"
      )
      expect(lines).toEqual(
        ['"error"', '"open"'].map((name) =>
          expect.stringMatching(`^WARN Events named ${name} are not forwarded: .*EventSource`)
        )
      )
      expect((yield* join(stream)).received.text()).toBe("retry: 2000\n\n")
    }).pipe(withLog(lines), Effect.provide(inMemory))
  })

  it.effect.prop(
    "sends every client the current backlog, then live events and pings in order",
    [overTime],
    ([steps]) =>
      Effect.gen(function* () {
        const stream = yield* EventStream.makeSockets({ ...options, keepAliveMs: 1000 })
        const latest = new Map<string, string>()
        const clients: Array<{ readonly received: Received.Received; sent: string }> = []
        const sent = (frames: string) => {
          for (const client of clients) {
            client.sent += frames
          }
        }
        let now = 0
        for (const step of steps) {
          switch (step.type) {
            case "emit": {
              const frame = SseFrame.event(step.name, String(now))
              yield* publish(step.name, now)
              if (options.replayEvents.includes(step.name)) {
                latest.delete(step.name)
                latest.set(step.name, frame)
              }
              sent(frame)
              break
            }
            case "join":
              clients.push({
                received: (yield* join(stream)).received,
                sent: [SseFrame.retry, ...latest.values()].join("")
              })
              break
            case "wait":
              yield* TestClock.adjust(step.millis)
              sent(SseFrame.ping.repeat(Math.floor((now + step.millis) / 1000) - Math.floor(now / 1000)))
              now += step.millis
          }
          yield* eventLoopTurn
        }
        for (const client of clients) {
          expect(client.received.text()).toBe(client.sent)
        }
      }).pipe(Effect.scoped, Effect.provide(inMemory), Effect.provide(TestContext.TestContext)),
    { fastCheck: { numRuns: 20 } }
  )

  it.scoped("pings on time while no feed of the bus is open, too", () => {
    const engine = eventEngine.make()
    const instance = engine.instance()
    return Effect.gen(function* () {
      const stream = yield* EventStream.makeSockets({ ...options, keepAliveMs: 20_000 })
      engine.set("subscribe", "fails")
      instance.endFeeds("fails")
      yield* eventually(Effect.map(stream.problem, Option.isSome))
      const { received } = yield* join(stream)
      // More often than every 20 seconds, the bus is tried again.
      for (let second = 0; second < 60; second++) {
        yield* TestClock.adjust("1 second")
        yield* eventLoopTurn
      }
      expect(received.text().split(SseFrame.ping)).toHaveLength(4)
      engine.recover()
      yield* eventually(
        Effect.zipRight(TestClock.adjust("1 second"), Effect.map(stream.problem, Option.isNone))
      )
      yield* received.whole
      const next = yield* join(stream)
      yield* instance.bus.publish("content:over", 1)
      yield* next.received.until(isOver)
    }).pipe(Effect.provide(instance.layer), withLog([]))
  })

  it.scoped("ends all streams if the bus has dropped events, counts them, and logs that once", () =>
    Effect.gen(function* () {
      const lines: Array<string> = []
      yield* Effect.gen(function* () {
        const stream = yield* EventStream.makeSockets(options)
        const { publish } = yield* EventBus
        for (const round of [1, 2]) {
          const { received } = yield* join(stream)
          yield* publish("content:live", "before")
          yield* received.until((text) => text.includes("before"))
          const flood = Effect.forEach(
            Array.from({ length: maxEvents + 21 }),
            (_, n) => publish("content:live", n),
            { discard: true }
          )
          yield* Effect.sync(() => Effect.runSync(flood))
          expect(yield* received.whole).not.toContain(`data: ${maxEvents}\n`)
          expect((yield* stream.statistics).framesMissed).toBeGreaterThanOrEqual(round * 20)
        }
      }).pipe(withLog(lines))
      expect(lines.filter((line) => line.includes("has dropped"))).toEqual([
        expect.stringMatching(/^WARN The event bus has dropped events/)
      ])
    }).pipe(Effect.provide(inMemory))
  )

  it.scoped("ends all streams if the bus has dropped the first events of a feed, and counts them", () =>
    Effect.gen(function* () {
      const stream = yield* EventStream.makeSockets(options)
      const { received } = yield* join(stream)
      const { publish } = yield* EventBus
      yield* Effect.sync(() =>
        Effect.runSync(
          Effect.zipRight(publish("content:live", "x".repeat(maxEventsSize)), publish("content:live", 2))
        )
      )
      expect(yield* received.whole).not.toContain("xxx")
      expect((yield* stream.statistics).framesMissed).toBe(1)
    }).pipe(Effect.provide(inMemory), withLog([]))
  )

  it.scoped("ends all streams when it closes, and sends nothing afterwards", () =>
    Effect.gen(function* () {
      const stream = yield* EventStream.makeSockets(options)
      const client = yield* join(stream)
      yield* stream.close
      expect(yield* client.received.whole).toBe(SseFrame.retry)
      expect((yield* stream.statistics).clients).toBe(0)
      const late = yield* join(stream)
      expect(yield* late.received.whole).toBe(SseFrame.retry)
      yield* publish("content:live", 1)
      yield* TestClock.adjust(options.keepAliveMs)
      yield* eventLoopTurn
      expect(client.received.text() + late.received.text()).toBe(SseFrame.retry.repeat(2))
      yield* stream.close
    }).pipe(Effect.provide(inMemory))
  )

  it.effect("provides a client as a Stream of the backlog, live events and pings, until it closes", () =>
    Effect.gen(function* () {
      const stream = yield* EventStream.makeStreams({ ...options, keepAliveMs: 1000 })
      yield* publish("content:a", 1)
      yield* Effect.yieldNow()
      const scope = yield* Scope.make()
      const reading = yield* Scope.extend(stream.stream(), scope).pipe(
        Effect.flatMap((frames) => Stream.mkString(Stream.decodeText(frames))),
        Effect.fork
      )
      yield* TestClock.adjust("1 second")
      yield* publish("content:live", 2)
      yield* TestClock.adjust("1 second")
      expect((yield* stream.statistics).clients).toBe(1)
      yield* stream.close
      expect(yield* Fiber.join(reading)).toBe(
        `retry: 2000\n\n${SseFrame.event("content:a", "1")}: ping\n\n${SseFrame.event("content:live", "2")}: ping\n\n`
      )
      yield* Scope.close(scope, Exit.void)
      expect((yield* stream.statistics).clients).toBe(0)
    }).pipe(Effect.scoped, Effect.provide(inMemory))
  )
})
