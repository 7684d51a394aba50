/**
 * What clients see, whatever becomes of the bus and the backlog in between, with one hub and with two on one engine.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import type { FrameSink } from "../../../src/layers/fanOut/FanOut.ts"
import { unsendable } from "../../../src/layers/httpTransport/EventEncoder.ts"
import * as EventStream from "../../../src/layers/httpTransport/EventStream.ts"
import { makeRecorder } from "../../../src/layers/httpTransport/statistics.ts"
import type { BusEvent, EventBus } from "../../../src/services/EventBus.ts"
import { type RememberedEvent, ReplayBacklog } from "../../../src/services/ReplayBacklog.ts"
import * as eventEngine from "../../support/eventEngine.ts"
import { type Message, messages } from "../../support/eventStream.ts"
import { eventLoopTurn } from "../../support/waiting.ts"

const replayed = ["content:a", "content:b"]
const live = "content:live"

const options: EventStream.Options = {
  subject: "The HTTP transport",
  unsendable,
  makeRecorder: (now) => makeRecorder("screens", now),
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

/** One connection of a client: what it begins with, what follows, and whether it is over. */
interface Connection {
  readonly received: Array<Uint8Array>
  isOver: boolean
}

const preambleOf = ({ received: [preamble = new Uint8Array()] }: Connection) => messages(preamble)

const followingOf = ({ received }: Connection) => messages(Buffer.concat(received.slice(1)))

const seenOn = (connection: Connection) => [...preambleOf(connection), ...followingOf(connection)]

/** A hub with clients of one kind: gives them a connection, and ends when that does. */
interface Hub {
  readonly connect: (connection: Connection) => Effect.Effect<void>
}

type MakeHub = Effect.Effect<Hub, never, EventBus | ReplayBacklog | Scope.Scope>

const sockets: MakeHub = Effect.map(EventStream.makeSockets(options), ({ join, leave }) => ({
  connect: ({ received }) =>
    Effect.async((resume) => {
      const sink: FrameSink = {
        begin: (frames) => received.push(frames),
        queuedBytes: () => 0,
        send: (frames) => received.push(frames) > 0,
        end: () => resume(Effect.void)
      }
      Effect.runSync(join(sink))
      return Effect.sync(() => leave(sink))
    })
}))

const streams: MakeHub = Effect.map(EventStream.makeStreams(options), ({ stream }) => ({
  connect: ({ received }) =>
    stream().pipe(
      Effect.orDie,
      Effect.flatMap(Stream.runForEach((frames) => Effect.sync(() => received.push(frames)))),
      Effect.scoped
    )
}))

/** A client that comes back after `retry` whenever its stream has ended. */
const makeClient = (hub: Hub) =>
  Effect.gen(function* () {
    const connections: Array<Connection> = []
    const connect = Effect.suspend(() => {
      const connection: Connection = { received: [], isOver: false }
      connections.push(connection)
      return Effect.zipRight(
        hub.connect(connection),
        Effect.sync(() => {
          connection.isOver = true
        })
      )
    })
    const fiber = yield* Effect.forkScoped(Effect.forever(Effect.zipLeft(connect, Effect.sleep("2 seconds"))))
    yield* Effect.yieldNow()
    return { connections, leave: Fiber.interrupt(fiber) }
  })

type Client = Effect.Effect.Success<ReturnType<typeof makeClient>>

const silently = Effect.provide(Logger.remove(Logger.defaultLogger))

const settle = Effect.repeatN(eventLoopTurn, 2)

const asMessages = (events: ReadonlyArray<RememberedEvent>) =>
  events.map(({ data, name }) => ({ event: name, data }))

/** What is wrong with what a client has seen, whatever has happened. */
const expectInOrder = (
  { connections }: Client,
  emitted: ReadonlyArray<BusEvent>,
  isRemembered: boolean
): void => {
  const forwarded = emitted.filter(({ name }) => name.startsWith("content:"))
  const places = new Map(forwarded.map(({ payload }, index) => [JSON.stringify(payload), index]))
  const placesOf = (seen: ReadonlyArray<Message>) => seen.map(({ data }) => places.get(data) ?? -1)
  const latest = new Map<string | undefined, number>()
  let last = -1
  for (const connection of connections) {
    const preamble = preambleOf(connection)
    const names = preamble.map(({ event }) => event)
    expect(new Set(names).size).toBe(names.length)
    expect(replayed).toEqual(expect.arrayContaining(names))
    const seen = placesOf(seenOn(connection))
    expect(seen).not.toContain(-1)
    // Nothing doubled, nothing out of order.
    expect(seen).toEqual([...new Set(seen)].sort((one, other) => one - other))
    // Nothing missing while a stream goes on.
    const following = placesOf(followingOf(connection))
    const [first = 0] = following
    expect(following).toEqual(following.map((_, index) => first + index))
    // Nothing live twice, nor older than before, on a later connection.
    if (following.length > 0) {
      expect(first).toBeGreaterThan(last)
    }
    last = following.at(-1) ?? last
    for (const { data, event } of isRemembered ? seenOn(connection) : []) {
      const place = places.get(data) ?? -1
      expect(place).toBeGreaterThanOrEqual(latest.get(event) ?? -1)
      latest.set(event, place)
    }
  }
}

const run = (makeHub: MakeHub, hubCount: number, steps: ReadonlyArray<Step>) =>
  Effect.gen(function* () {
    const engine = eventEngine.make()
    const instances = Array.from({ length: hubCount }, engine.instance)
    const own = yield* Effect.forEach(instances, ({ layer }) => Effect.provide(makeHub, layer))
    const clients: Array<Client> = []
    let published = 0

    const join = (index: number) =>
      makeClient(own[index] ?? { connect: () => Effect.dieMessage("no such hub") })
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
          clients.push(yield* join(step.hub % hubCount))
          break
        case "leave":
          yield* clients.splice(step.client, 1)[0]?.leave ?? Effect.void
          break
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
    // One event from which all losses can be seen. What an instance stores long after another has missed it, the other finds with
    // the next gap.
    for (const lost of hubCount > 1 ? [0, 1] : [0]) {
      for (const { lose } of instances) {
        lose(lost)
      }
      yield* Effect.replicateEffect(publish(live), lost + 1)
      yield* settle
      yield* TestClock.adjust("5 seconds")
      yield* settle
      yield* TestClock.adjust("5 seconds")
      yield* settle
    }

    const remembered = asMessages(engine.remembered())
    const connected = clients.map(({ connections }) => connections.at(-1) ?? { received: [], isOver: true })
    for (const connection of connected) {
      expect(connection.isOver).toBe(false)
      for (const message of remembered) {
        expect(seenOn(connection).findLast(({ event }) => event === message.event)).toEqual(message)
      }
    }
    for (const index of own.keys()) {
      const client = yield* join(index)
      yield* settle
      expect(client.connections.map(preambleOf)).toEqual([remembered])
    }

    const before = connected.map((connection) => followingOf(connection).length)
    const names = [live, ...replayed, live]
    const last = names.map((name, index) => ({ event: name, data: String(published + index) }))
    yield* Effect.forEach(names, (name) => publish(name))
    yield* settle
    connected.forEach((connection, index) => {
      expect(followingOf(connection).slice(before[index])).toEqual(last)
    })

    const isRemembered = steps.every(
      (step) => step.type !== "anew" && !(step.type === "break" && step.part === "write")
    )
    for (const client of clients) {
      expectInOrder(client, engine.emitted(), isRemembered)
    }
  }).pipe(Effect.scoped, silently)

/** A hub on each of two instances of an engine. */
const twoHubs = Effect.gen(function* () {
  const engine = eventEngine.make()
  const [one, other] = [engine.instance(), engine.instance()]
  const hub = yield* Effect.provide(sockets, one.layer)
  yield* Effect.provide(sockets, other.layer)
  return { engine, hub, one }
})

/** A client of the first, which has seen an event. */
const clientOfTwoHubs = Effect.gen(function* () {
  const { hub, ...others } = yield* twoHubs
  const client = yield* makeClient(hub)
  yield* others.one.bus.publish(live, 1)
  yield* settle
  return { client, hub, ...others }
})

const dataOf = ({ connections }: Client) =>
  connections.map((connection) => seenOn(connection).map(({ data }) => data))

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
        expect(dataOf(yield* makeClient(hub))).toEqual([["1"]])
      }).pipe(silently)
  )

  it.scoped("ends at a gap, behind the events in front of it, and replays what the bus lost", () =>
    Effect.gen(function* () {
      const { client, one } = yield* clientOfTwoHubs
      yield* one.bus.publish(live, 2)
      one.lose(1)
      yield* one.bus.publish("content:a", 3)
      yield* one.bus.publish(live, 4)
      yield* settle
      expect(client.connections.map(({ isOver }) => isOver)).toEqual([true])
      yield* TestClock.adjust("2 seconds")
      yield* one.bus.publish(live, 5)
      yield* settle
      expect(dataOf(client)).toEqual([
        ["1", "2"],
        ["3", "5"]
      ])
    }).pipe(silently)
  )

  it.scoped("ends once more if the backlog has an event that clients were not given", () =>
    Effect.gen(function* () {
      const { client, engine, hub, one } = yield* clientOfTwoHubs
      engine.set("read", "hangs")
      one.lose(1)
      yield* one.bus.publish("content:a", 2)
      yield* one.bus.publish(live, 3)
      yield* settle
      yield* TestClock.adjust("1 second")
      const early = yield* makeClient(hub)
      yield* one.bus.publish(live, 4)
      yield* settle
      engine.recover()
      yield* settle
      yield* TestClock.adjust("2 seconds")
      expect(dataOf(early)).toEqual([["4"], ["2"]])
      expect(dataOf(client)).toEqual([["1"], ["2"]])
    }).pipe(silently)
  )

  it.scoped("sends no event twice that the backlog has when it is read for a gap", () =>
    Effect.gen(function* () {
      const { client, engine, one } = yield* clientOfTwoHubs
      one.lose(1)
      yield* one.bus.publish(live, 2)
      yield* one.bus.publish(live, 3)
      yield* settle
      engine.set("read", "hangs")
      yield* TestClock.adjust("2 seconds")
      yield* one.bus.publish(live, 4)
      yield* one.bus.publish("content:a", 5)
      yield* settle
      engine.recover()
      yield* settle
      expect(dataOf(client)).toEqual([["1"], ["4", "5"]])
    }).pipe(silently)
  )

  it.scoped("ends when the feed is lost, and with the next feed for clients that came in between", () =>
    Effect.gen(function* () {
      const { client, hub, one } = yield* clientOfTwoHubs
      yield* one.bus.publish("content:a", 2)
      yield* TestClock.adjust("10 seconds")
      one.endFeeds("fails")
      yield* settle
      const between = yield* makeClient(hub)
      const isOver = () => [client, between].map(({ connections }) => connections.at(-1)?.isOver)
      expect(isOver()).toEqual([true, false])
      yield* TestClock.adjust("1500 millis")
      yield* settle
      expect(isOver()).toEqual([true, true])
      yield* TestClock.adjust("2 seconds")
      yield* one.bus.publish(live, 3)
      yield* settle
      expect(dataOf(client)).toEqual([
        ["1", "2"],
        ["2", "3"]
      ])
      expect(dataOf(between)).toEqual([["2"], ["2", "3"]])
    }).pipe(silently)
  )

  it.scoped("remembers no event with an old number after the feed has failed", () =>
    Effect.gen(function* () {
      const engine = eventEngine.make()
      const { bus, layer } = engine.instance()
      yield* Effect.provide(sockets, layer)
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
      yield* Effect.provide(sockets, Layer.provideMerge(counting, layer))
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
  for (const [kind, makeHub] of Object.entries({ sockets, streams })) {
    for (const hubCount of [1, 2]) {
      it.effect.prop(
        `send clients that come back everything once and in order, to ${kind}, with ${hubCount} of them`,
        [FastCheck.array(step, { maxLength: 40 })],
        ([steps]) => run(makeHub, hubCount, steps),
        { fastCheck: { numRuns: 20 } }
      )
    }
  }
})
