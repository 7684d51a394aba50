/**
 * What clients see, whatever becomes of the bus and the backlog in between, with one hub and with two on one engine.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as TestClock from "effect/TestClock"
import type { FrameSink } from "../../../src/layers/fanOut/FanOut.ts"
import * as EventStream from "../../../src/layers/httpTransport/EventStream.ts"
import { type RememberedEvent, ReplayBacklog } from "../../../src/services/ReplayBacklog.ts"
import * as eventEngine from "../../support/eventEngine.ts"
import { messages } from "../../support/eventStream.ts"
import { eventLoopTurn } from "../../support/waiting.ts"

const replayed = ["content:a", "content:b"]
const live = "content:live"

const options: EventStream.Options = {
  events: ["content:*"],
  replayEvents: replayed,
  keepAliveMs: 600_000,
  maxClients: 100
}

const step = FastCheck.oneof(
  {
    weight: 8,
    arbitrary: FastCheck.record({
      type: FastCheck.constant("publish" as const),
      isLarge: FastCheck.boolean(),
      name: FastCheck.constantFrom(...replayed, live, "other:c")
    })
  },
  {
    weight: 3,
    arbitrary: FastCheck.record({ type: FastCheck.constant("join" as const), hub: FastCheck.nat(1) })
  },
  {
    weight: 1,
    arbitrary: FastCheck.record({ type: FastCheck.constant("leave" as const), client: FastCheck.nat(5) })
  },
  {
    weight: 1,
    arbitrary: FastCheck.record({
      type: FastCheck.constant("feed" as const),
      hub: FastCheck.nat(1),
      how: FastCheck.constantFrom("ends" as const, "fails" as const, "dies" as const)
    })
  },
  {
    weight: 2,
    arbitrary: FastCheck.record({
      type: FastCheck.constant("lose" as const),
      hub: FastCheck.nat(1),
      events: FastCheck.integer({ min: 1, max: 3 })
    })
  },
  {
    weight: 2,
    arbitrary: FastCheck.record({
      type: FastCheck.constant("break" as const),
      part: FastCheck.constantFrom(...eventEngine.parts),
      condition: FastCheck.constantFrom("fails" as const, "hangs" as const)
    })
  },
  { weight: 2, arbitrary: FastCheck.constant({ type: "recover" as const }) },
  { weight: 1, arbitrary: FastCheck.constant({ type: "anew" as const }) },
  { weight: 3, arbitrary: FastCheck.constant({ type: "yield" as const }) },
  { weight: 3, arbitrary: FastCheck.constant({ type: "turn" as const }) },
  {
    weight: 2,
    arbitrary: FastCheck.record({
      type: FastCheck.constant("pass" as const),
      ms: FastCheck.constantFrom(300, 1300, 5000, 40_000)
    })
  }
)

type Step = typeof step extends FastCheck.Arbitrary<infer A> ? A : never

/** A client that keeps what it begins with and what follows. */
const makeClient = (hub: number) => {
  const preamble: Array<Uint8Array> = []
  const following: Array<Uint8Array> = []
  let isOver = false
  const sink: FrameSink = {
    begin: (frames) => preamble.push(frames),
    queuedBytes: () => 0,
    send: (frames) => {
      following.push(frames)
      return true
    },
    end: () => {
      isOver = true
    }
  }
  return {
    hub,
    sink,
    isOver: () => isOver,
    preamble: () => messages(Buffer.concat(preamble)),
    following: () => messages(Buffer.concat(following))
  }
}

const silently = Effect.provide(Logger.remove(Logger.defaultLogger))

const settle = Effect.repeatN(eventLoopTurn, 2)

const asMessages = (events: ReadonlyArray<RememberedEvent>) =>
  events.map(({ data, name }) => ({ event: name, data }))

const run = (hubCount: number, steps: ReadonlyArray<Step>) =>
  Effect.gen(function* () {
    const engine = eventEngine.make()
    const instances = Array.from({ length: hubCount }, engine.instance)
    const hubs = yield* Effect.forEach(instances, ({ layer }) =>
      Effect.provide(EventStream.make(options), layer)
    )
    const clients: Array<ReturnType<typeof makeClient>> = []
    let published = 0

    const join = (index: number) =>
      Effect.gen(function* () {
        const client = makeClient(index)
        clients.push(client)
        yield* hubs[index]?.join(client.sink) ?? Effect.dieMessage("no such hub")
        return client
      })
    const publish = (name: string, isLarge = false) =>
      Effect.suspend(() => {
        const number = published++
        const payload = isLarge ? `${number}`.padEnd(70_000) : number
        return Effect.forkScoped(Effect.ignore(instances[0]?.bus.publish(name, payload) ?? Effect.void))
      })

    for (const step of steps) {
      switch (step.type) {
        case "publish":
          yield* publish(step.name, step.isLarge)
          yield* Effect.yieldNow()
          break
        case "join":
          yield* join(step.hub % hubCount)
          break
        case "leave": {
          const client = clients[step.client]
          if (client !== undefined && !client.isOver()) {
            hubs[client.hub]?.leave(client.sink)
            clients.splice(step.client, 1)
          }
          break
        }
        case "feed":
          instances[step.hub % hubCount]?.endFeeds(step.how)
          break
        case "lose":
          instances[step.hub % hubCount]?.lose(step.events)
          break
        case "break":
          engine.set(step.part, step.condition)
          break
        case "recover":
          engine.recover()
          break
        case "anew":
          yield* settle
          engine.beginAnew()
          break
        case "yield":
          yield* Effect.yieldNow()
          break
        case "turn":
          yield* settle
          break
        case "pass":
          yield* TestClock.adjust(step.ms)
      }
    }

    engine.recover()
    yield* settle
    yield* TestClock.adjust("1 minute")
    yield* settle
    // One event from which all losses can be seen.
    for (const { lose } of instances) {
      lose(0)
    }
    yield* publish(live)
    yield* settle
    yield* TestClock.adjust("1 second")
    yield* settle
    if (hubCount > 1 && steps.some((step) => step.type === "break" && step.part === "write")) {
      // What an instance remembers long after another has missed it, that one finds with the next gap.
      for (const { lose } of instances) {
        lose(1)
      }
      yield* Effect.replicateEffect(publish(live), 2)
      yield* settle
    }

    const order = new Map(engine.emitted().map(({ payload }, index) => [JSON.stringify(payload), index]))
    for (const client of clients) {
      const preamble = client.preamble()
      const names = preamble.map(({ event }) => event)
      expect(new Set(names).size).toBe(names.length)
      expect(replayed).toEqual(expect.arrayContaining(names))
      const places = [...preamble, ...client.following()].map(({ data }) => order.get(data) ?? -1)
      expect(places).toEqual([...new Set(places)].sort((one, other) => one - other))
      expect(places).not.toContain(-1)
    }

    const remembered = asMessages(engine.remembered())
    const isConnected = (client: (typeof clients)[number]) => !client.isOver()
    for (const client of clients.filter(isConnected)) {
      const seen = [...client.preamble(), ...client.following()]
      for (const message of remembered) {
        expect(seen.findLast(({ event }) => event === message.event)).toEqual(message)
      }
    }
    for (const index of hubs.keys()) {
      expect((yield* join(index)).preamble()).toEqual(remembered)
    }

    const connected = clients.filter(isConnected)
    const before = connected.map((client) => client.following().length)
    const names = [live, ...replayed, live]
    const last = names.map((name, index) => ({ event: name, data: String(published + index) }))
    yield* Effect.forEach(names, (name) => publish(name))
    yield* settle
    connected.forEach((client, index) => {
      expect(client.following().slice(before[index])).toEqual(last)
    })
  }).pipe(Effect.scoped, silently)

/** A hub on each of two instances of an engine. */
const twoHubs = Effect.gen(function* () {
  const engine = eventEngine.make()
  const [one, other] = [engine.instance(), engine.instance()]
  const hub = yield* Effect.provide(EventStream.make(options), one.layer)
  yield* Effect.provide(EventStream.make(options), other.layer)
  return { engine, hub, one }
})

/** A client of the first, which has seen an event. */
const clientOfTwoHubs = Effect.gen(function* () {
  const { hub, ...hubs } = yield* twoHubs
  const client = makeClient(0)
  yield* hub.join(client.sink)
  yield* hubs.one.bus.publish(live, 1)
  yield* settle
  return { client, ...hubs }
})

describe("an event stream on a bus that fails", () => {
  it.scoped(
    "finds an event that the bus lost before the first one, soon after another process remembered it",
    () =>
      Effect.gen(function* () {
        const { hub, one } = yield* twoHubs
        one.lose(1)
        yield* one.bus.publish("content:a", 1)
        yield* one.bus.publish(live, 2)
        yield* settle
        yield* TestClock.adjust("1 second")
        const client = makeClient(0)
        yield* hub.join(client.sink)
        expect(client.preamble()).toEqual([{ event: "content:a", data: "1" }])
      }).pipe(silently)
  )

  it.scoped("sends events that the bus lost before the event that shows the gap", () =>
    Effect.gen(function* () {
      const { client, one } = yield* clientOfTwoHubs
      one.lose(1)
      yield* one.bus.publish("content:a", 2)
      yield* settle
      yield* one.bus.publish(live, 3)
      yield* settle
      expect(client.following().map(({ data }) => data)).toEqual(["1", "2", "3"])
    }).pipe(silently)
  )

  it.scoped(
    "sends no event twice to a client that joins while large events are sent that the bus had lost",
    () =>
      Effect.gen(function* () {
        const { hub, one } = yield* twoHubs
        const first = makeClient(0)
        const second = makeClient(0)
        yield* hub.join({
          ...first.sink,
          send: (frames) => {
            if (Buffer.from(frames).includes("event: content:a")) {
              queueMicrotask(() => Effect.runSync(hub.join(second.sink)))
            }
            return first.sink.send(frames)
          }
        })
        yield* one.bus.publish(live, 1)
        yield* settle
        one.lose(2)
        yield* one.bus.publish("content:a", "a".repeat(70_000))
        yield* one.bus.publish("content:b", "b".repeat(70_000))
        yield* settle
        yield* one.bus.publish(live, 2)
        yield* settle
        expect([...second.preamble(), ...second.following()].map(({ event }) => event)).toEqual([
          "content:a",
          "content:b",
          live
        ])
        expect(first.following()).toHaveLength(4)
      }).pipe(silently)
  )

  it.scoped("sends no event twice that the backlog has when it is read for a gap", () =>
    Effect.gen(function* () {
      const { client, engine, one } = yield* clientOfTwoHubs
      one.lose(1)
      yield* one.bus.publish(live, 2)
      engine.set("read", "hangs")
      yield* one.bus.publish(live, 3)
      yield* settle
      yield* one.bus.publish(live, 4)
      yield* one.bus.publish("content:a", 5)
      yield* settle
      engine.recover()
      yield* settle
      expect(client.following().map(({ data }) => data)).toEqual(["1", "3", "4", "5"])
    }).pipe(silently)
  )

  it.scoped("remembers no event with an old number after the feed has failed", () =>
    Effect.gen(function* () {
      const engine = eventEngine.make()
      const { bus, layer } = engine.instance()
      yield* Effect.provide(EventStream.make(options), layer)
      engine.set("write", "fails")
      yield* bus.publish(live, 1)
      yield* bus.publish("content:a", 2)
      yield* settle
      engine.beginAnew()
      engine.set("subscribe", "fails")
      yield* TestClock.adjust("10 seconds")
      expect(engine.remembered()).toEqual([])
      engine.recover()
      yield* TestClock.adjust("1 minute")
      yield* bus.publish("content:a", 3)
      yield* settle
      expect(engine.remembered()).toEqual([{ name: "content:a", data: "3", sequence: 1 }])
    }).pipe(silently)
  )

  it.scoped("reads the backlog once for many gaps, as soon as that is possible", () =>
    Effect.gen(function* () {
      const engine = eventEngine.make()
      const { bus, layer, lose } = engine.instance()
      let reads = 0
      const counting = Layer.effect(
        ReplayBacklog,
        Effect.map(ReplayBacklog, ({ remember, snapshot }) => ({
          remember,
          snapshot: Effect.zipRight(
            Effect.sync(() => reads++),
            snapshot
          )
        }))
      )
      yield* Effect.provide(EventStream.make(options), Layer.provideMerge(counting, layer))
      engine.set("read", "fails")
      for (let gap = 0; gap < 50; gap++) {
        yield* bus.publish(live, "seen")
        lose(1)
        yield* bus.publish(live, "lost")
      }
      yield* bus.publish(live, "seen")
      yield* settle
      engine.recover()
      reads = 0
      yield* TestClock.adjust("2 minutes")
      expect(reads).toBeGreaterThanOrEqual(1)
      expect(reads).toBeLessThanOrEqual(2)
    }).pipe(silently)
  )
})

describe("event streams on a bus that fails", () => {
  for (const hubCount of [1, 2]) {
    it.effect.prop(
      `send every client the remembered events once, then live events in order, with ${hubCount} of them`,
      [FastCheck.array(step, { maxLength: 40 })],
      ([steps]) => run(hubCount, steps),
      { fastCheck: { numRuns: 60 } }
    )
  }
})
