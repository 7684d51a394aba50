import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { maxEventsSize } from "../../src/internal/keptEvents.ts"
import { maxQueuedBytes } from "../../src/layers/fanOut/FanOut.ts"
import { HttpTransport } from "../../src/layers/httpTransport/HttpTransport.ts"
import * as EventBusMemory from "../../src/layers/memory/EventBusMemory.ts"
import { EventBus } from "../../src/services/EventBus.ts"
import * as eventReader from "../support/eventReader.ts"
import { withLog } from "../support/logged.ts"
import { memory } from "../support/memory.ts"
import { format } from "../support/rawHttp.ts"
import * as transport from "../support/transport.ts"
import { eventLoopTurn, eventually } from "../support/waiting.ts"

/** Reads a stream of which every event has the next number, `[number, …]`, and counts what is not as it should be. */
const openCounting = Effect.gen(function* () {
  let count = 0
  let faults = 0
  const reader = yield* eventReader.open(yield* transport.port, {
    onMessage: ({ data }) => {
      if (!data.startsWith(`[${count},`)) {
        faults += 1
      }
      count += 1
    }
  })
  return { ...reader, count: () => count, faults: () => faults }
})

/** Publishes `[number, rest]` with every number below the end, no faster than the clients read. */
const publishNumbers = (
  end: number,
  rest: unknown,
  clients: ReadonlyArray<{ readonly count: () => number }>,
  perTurn: number
) =>
  Effect.gen(function* () {
    for (let number = 0; number < end; number++) {
      yield* transport.publish("content:n", [number, rest])
      if ((number + 1) % perTurn === 0) {
        yield* eventually(Effect.sync(() => clients.every(({ count }) => count() === number + 1)))
      }
    }
  })

/** Runs the effect and returns the most that the memory had grown meanwhile, looked at after every so many turns. */
const growthDuring = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const before = yield* memory
    let most = 0
    const look = Effect.map(memory, (now) => {
      most = Math.max(most, now - before)
    })
    yield* Effect.raceFirst(effect, Effect.forever(Effect.zipRight(Effect.repeatN(eventLoopTurn, 100), look)))
    yield* look
    return most
  })

/** Four clients that read, and eight that do not. */
const openHealthyAndStalled = Effect.gen(function* () {
  const healthy = yield* Effect.replicateEffect(openCounting, 4)
  const stalled = yield* Effect.replicateEffect(openCounting, 8)
  for (const { stall } of stalled) {
    stall()
  }
  return { healthy, stalled }
})

describe("stalled clients", () => {
  it.live("cost 1 MiB each at most, and do not affect others", () =>
    Effect.gen(function* () {
      const { statistics } = yield* HttpTransport
      const { healthy, stalled } = yield* openHealthyAndStalled
      const growth = yield* growthDuring(publishNumbers(2000, "x".repeat(16 * 1024), healthy, 10))
      expect(growth).toBeLessThan(stalled.length * maxQueuedBytes)
      expect(yield* statistics).toMatchObject({ clients: healthy.length, clientsDropped: stalled.length })
      expect((yield* statistics).framesMissed).toBeGreaterThanOrEqual(stalled.length)
      for (const { resume } of stalled) {
        resume()
      }
      yield* Effect.forEach(stalled, ({ closed }) => closed)
      expect(healthy.map(({ count }) => count())).toEqual(healthy.map(() => 2000))
      expect([...healthy, ...stalled].filter(({ faults }) => faults() > 0)).toEqual([])
    }).pipe(Effect.scoped, Effect.provide(transport.layer()))
  )
})

/** Reads what the publishers publish, and counts what is not in the order of its publisher. */
const openFlooded = Effect.gen(function* () {
  const latest = new Map<number, number>()
  let received = 0
  let faults = 0
  let over = false
  const reader = yield* eventReader.open(yield* transport.port, {
    onMessage: ({ data, event }) => {
      const [publisher = 0, number = 0] = data.slice(1, -1).split(",").map(Number)
      if (event === "content:over") {
        over = true
      } else if (over || number <= (latest.get(publisher) ?? 0)) {
        faults += 1
      } else {
        latest.set(publisher, number)
      }
      received += 1
    }
  })
  return {
    received: () => received,
    faults: () => faults,
    over: Effect.raceFirst(
      eventually(Effect.sync(() => over)),
      Effect.zipRight(reader.closed, Effect.fail("The client fell so far behind that it was disconnected."))
    )
  }
})

/** So many publishers publish so many each, with a turn of the event loop after every so many of them. */
const flood = (publishers: number, each: number, perTurn: number) =>
  Effect.forEach(
    Array.from({ length: publishers }, (_, publisher) => publisher),
    (publisher) =>
      Effect.gen(function* () {
        for (let number = 1; number <= each; number++) {
          yield* transport.publish("content:n", [publisher, number])
          if (number % perTurn === 0) {
            yield* eventLoopTurn
          }
        }
      }),
    { concurrency: "unbounded", discard: true }
  ).pipe(Effect.zipRight(transport.publish("content:over", [])))

describe("a burst", () => {
  it.live("of megabytes reaches all reading clients completely, even if others do not read", () =>
    Effect.gen(function* () {
      const { statistics } = yield* HttpTransport
      const { healthy, stalled } = yield* openHealthyAndStalled
      yield* publishNumbers(2000, "x".repeat(16 * 1024), [], 2001)
      yield* eventually(Effect.sync(() => healthy.every(({ count }) => count() === 2000)))
      expect(healthy.filter(({ faults }) => faults() > 0)).toEqual([])
      expect(yield* statistics).toMatchObject({ clients: healthy.length, clientsDropped: stalled.length })
    }).pipe(Effect.scoped, Effect.provide(transport.layer()))
  )
})

describe("a million events", () => {
  it.effect(
    "need bounded memory, stay in order, are counted where they are missed, and do not block others",
    () =>
      Effect.gen(function* () {
        const { statistics } = yield* HttpTransport
        const client = yield* openFlooded
        let answered = 0
        const ask = Effect.map(transport.request({ target: "/status" }), ({ status }) => {
          expect(status).toBe(200)
          answered += 1
        })
        const growth = yield* growthDuring(Effect.raceFirst(flood(8, 125_000, 400), Effect.forever(ask)))
        yield* client.over
        expect(growth).toBeLessThan(16 * 1024 * 1024)
        expect(answered).toBeGreaterThan(10)
        expect(client.faults()).toBe(0)
        expect(yield* statistics).toMatchObject({ clients: 1, eventsForwarded: 1_000_001 })
        expect(client.received() + (yield* statistics).framesMissed).toBe(1_000_001)
        yield* ask
      }).pipe(Effect.scoped, Effect.provide(transport.layer()))
  )
})

const unserialisable = {
  get broken(): never {
    throw new Error("This getter throws.")
  }
}

/** Made once: to make an error takes longer than to handle it. */
const death = new Error("It is dead.")

/** So many commands that die, on connections with some at once. */
const postDyingCommands = (count: number) => {
  const atOnce = 10
  const one = format({
    method: "POST",
    target: "/command",
    headers: { Connection: "keep-alive" },
    body: '{"type":"content.ack"}'
  })
  return Effect.replicateEffect(
    Effect.scoped(
      Effect.flatMap(transport.connect, ({ received, send }) => {
        send(Buffer.concat(Array.from({ length: atOnce }, () => one)))
        return received.until((text) => text.split('"message":"It is dead."').length > atOnce)
      })
    ),
    count / atOnce,
    { concurrency: 4, discard: true }
  )
}

describe("ten thousand faults of each kind", () => {
  it.live("are handled or dropped, logged once at most, and affect no others", () => {
    const lines: Array<string> = []
    return Effect.gen(function* () {
      const client = yield* openCounting
      yield* transport.register("content.ack", Effect.die(death))
      const publishBadNames = Effect.gen(function* () {
        for (let event = 0; event < 10_000; event++) {
          yield* transport.publish("content:line\nbreak", event)
          if (event % 100 === 0) {
            yield* eventLoopTurn
          }
        }
      })
      yield* Effect.all(
        [publishNumbers(10_000, unserialisable, [client], 100), publishBadNames, postDyingCommands(10_000)],
        { concurrency: "unbounded" }
      )
      expect(client.count()).toBe(10_000)
      expect(client.faults()).toBe(0)
      expect((yield* transport.request({ target: "/status" })).status).toBe(200)
      const warnings = lines.filter((line) => !line.startsWith("INFO"))
      expect(warnings.filter((line) => line.includes('"content:line\\nbreak"'))).toHaveLength(1)
      expect(warnings.filter((line) => line.includes('"content:n"'))).toHaveLength(1)
      expect(warnings.filter((line) => line.includes('"content.ack"'))).toHaveLength(1)
      expect(warnings).toHaveLength(3)
    }).pipe(Effect.scoped, Effect.provide(transport.layer()), withLog(lines))
  })

  it.effect("are logged in bounded space, whatever their names are", () => {
    const lines: Array<string> = []
    return Effect.gen(function* () {
      const client = yield* openFlooded
      for (let event = 0; event < 10_000; event++) {
        yield* transport.publish(`content:line\nbreak ${event}`, event)
        if (event % 1000 === 0) {
          yield* eventLoopTurn
        }
      }
      yield* transport.publish("content:over", [])
      yield* client.over
      expect(lines.length).toBeLessThan(200)
    }).pipe(Effect.scoped, Effect.provide(transport.layer()), withLog(lines))
  })
})

/** Text that shares nothing with any other. */
const mebibyte = () => Buffer.alloc(1024 * 1024, "x").toString("latin1")

describe("large events", () => {
  it.scoped("that nobody reads are limited by their size on the bus", () =>
    Effect.gen(function* () {
      const bus = yield* EventBus
      yield* bus.subscribe
      const growth = yield* growthDuring(
        Effect.repeatN(
          Effect.suspend(() => bus.publish("content:n", { deep: [mebibyte()] })),
          300
        )
      )
      expect(growth).toBeLessThan(maxEventsSize + 8 * 1024 * 1024)
    }).pipe(Effect.provide(EventBusMemory.layer))
  )
})
