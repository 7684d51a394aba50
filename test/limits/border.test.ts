import { describe, expect, it, vi } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ReplayBacklogMemory from "../../src/layers/ReplayBacklogMemory.ts"
import * as HttpTransportLayer from "../../src/layers/transport/HttpTransport.ts"
import { HttpTransport } from "../../src/services/HttpTransport.ts"
import { ReplayBacklog } from "../../src/services/ReplayBacklog.ts"
import * as eventReader from "../support/eventReader.ts"
import * as transport from "../support/transport.ts"
import { eventLoopTurn, eventually } from "../support/waiting.ts"

// Seconds of work become many where the machine has other work, too.
vi.setConfig({ testTimeout: 90_000 })

const emitters = [0, 1, 2, 3, 4, 5, 6, 7]
const replayEvents = emitters.map((emitter) => `content:replayed:${emitter}`)

/** How many events a client reads: the backlog, then every name about twice. */
const enough = replayEvents.length * 4

/** A backlog that is asked over a network, as it were. */
const distantBacklog = Layer.effect(
  ReplayBacklog,
  Effect.map(ReplayBacklogMemory.make, (backlog) => ({
    remember: (event) => Effect.zipRight(eventLoopTurn, backlog.remember(event)),
    snapshot: Effect.zipLeft(backlog.snapshot, eventLoopTurn)
  }))
)

/** Emits its two names in turn, one replayed and one not, each with numbers of its own. */
const emit = (emitter: number) =>
  Effect.gen(function* () {
    for (let number = 0; ; number++) {
      yield* transport.publish(`content:replayed:${emitter}`, number)
      yield* transport.publish(`content:live:${emitter}`, number)
      yield* Effect.repeatN(eventLoopTurn, 2 + (emitter % 3))
    }
  })

/** Reads a stream for a while, and gives what was wrong with it. */
const visit = Effect.gen(function* () {
  const faults: Array<string> = []
  const done = yield* Deferred.make<void>()
  const latest = new Map<string, number>()
  let begun = false
  let read = 0
  yield* eventReader.open(yield* transport.port, {
    onRetry: () => {
      begun = true
    },
    onMessage: ({ data, event = "" }) => {
      const number = Number(data)
      const before = latest.get(event)
      latest.set(event, number)
      read += 1
      if (!begun) {
        faults.push(`${event} came before retry`)
      }
      if (before !== undefined && number !== before + 1) {
        faults.push(`${event}: ${before} was followed by ${number}`)
      }
      if (read === replayEvents.length && !replayEvents.every((name) => latest.has(name))) {
        faults.push(`The backlog was ${[...latest.keys()].join(", ")}`)
      }
      if (read === enough) {
        Deferred.unsafeDone(done, Effect.void)
      }
    }
  })
  yield* Deferred.await(done)
  return faults
}).pipe(Effect.scoped)

/** So many visits, with the faults of all of them, while the emitters emit. */
const visits = (count: number) =>
  Effect.gen(function* () {
    const first = yield* transport.openEvents
    yield* Effect.forkScoped(Effect.forEach(emitters, emit, { concurrency: "unbounded" }))
    yield* first.received.until((text) => replayEvents.every((name) => text.includes(`${name}\n`)))
    first.reset()
    return (yield* Effect.replicateEffect(visit, count, { concurrency: 50 })).flat()
  })

const layer = (backlog: Layer.Layer<ReplayBacklog>) =>
  Layer.provideMerge(
    HttpTransportLayer.layer({ port: 0, replayEvents, maxClients: 100 }),
    Layer.merge(transport.memoryServices(), backlog)
  )

describe("between backlog and live", () => {
  it.effect("nothing is missing, doubled or out of order", () =>
    Effect.gen(function* () {
      expect(yield* visits(3000)).toEqual([])
    }).pipe(Effect.scoped, Effect.provide(layer(ReplayBacklogMemory.layer)))
  )

  it.effect.fails(
    "nothing is, either, where the backlog is far away, and nobody is kept waiting for ever",
    () =>
      Effect.gen(function* () {
        const { statistics } = yield* HttpTransport
        const forEver = eventually(Effect.map(statistics, ({ eventsForwarded }) => eventsForwarded > 30_000))
        const faults = yield* Effect.raceFirst(visits(300), Effect.as(forEver, ["Somebody was kept waiting"]))
        expect(faults).toEqual([])
      }).pipe(Effect.scoped, Effect.provide(layer(distantBacklog)))
  )
})
