import { describe, expect, it, vi } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HttpTransportLayer from "../../src/layers/httpTransport/HttpTransport.ts"
import { HttpTransport } from "../../src/layers/httpTransport/HttpTransport.ts"
import * as ReplayBacklogMemory from "../../src/layers/memory/ReplayBacklogMemory.ts"
import { ReplayBacklog } from "../../src/services/ReplayBacklog.ts"
import * as eventReader from "../support/eventReader.ts"
import * as transport from "../support/transport.ts"
import { eventLoopTurn, eventually } from "../support/waiting.ts"

// Seconds of work become many where the machine has other work, too.
vi.setConfig({ testTimeout: 90_000 })

const emitters = [0, 1, 2, 3, 4, 5, 6, 7]
const replayEvents = emitters.map((emitter) => `content:replayed:${emitter}`)

/** How many events a client reads: the backlog, then every name about once. */
const enough = replayEvents.length * 4

/** A backlog that is asked over a network, as it were. */
const distantBacklog = Layer.effect(
  ReplayBacklog,
  Effect.map(ReplayBacklogMemory.make, (backlog) => ({
    remember: (event) => Effect.zipRight(eventLoopTurn, backlog.remember(event)),
    snapshot: Effect.zipLeft(backlog.snapshot, eventLoopTurn)
  }))
)

/** So large that what is emitted behind it goes out a turn later. */
const padding = "x".repeat(64 * 1024)

/** Emits its two names, one replayed and one not, each with numbers of its own, twice and then pauses. */
const emit = (emitter: number, pause: number) =>
  Effect.gen(function* () {
    for (let number = 0; ; number++) {
      const isLarge = emitter === 0 && number % 2 === 1
      yield* transport.publish(`content:live:${emitter}`, `${number} ${isLarge ? padding : ""}`)
      yield* transport.publish(`content:replayed:${emitter}`, `${number}`)
      if (number % 2 === 1) {
        yield* Effect.repeatN(eventLoopTurn, pause + (emitter === 0 ? 8 : emitter % 3))
      }
    }
  })

/** Reads a stream for a while, and returns what was wrong with it. */
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
      const number = Number.parseInt(data.slice(1), 10)
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
const visits = (count: number, { pause }: { readonly pause: number }) =>
  Effect.gen(function* () {
    const first = yield* transport.openEvents
    yield* Effect.forEach(emitters, (emitter) => Effect.forkScoped(emit(emitter, pause)))
    yield* first.received.until((text) => replayEvents.every((name) => text.includes(`${name}\n`)))
    first.reset()
    return (yield* Effect.replicateEffect(visit, count, { concurrency: 50 })).flat()
  })

const layer = (backlog: Layer.Layer<ReplayBacklog>) =>
  Layer.provideMerge(
    HttpTransportLayer.layer({ port: 0, replayEvents, maxClients: 100 }),
    Layer.merge(transport.memoryServices(), backlog)
  )

describe("the change from backlog to live events", () => {
  it.effect("loses, repeats and reorders no event", () =>
    Effect.gen(function* () {
      expect(yield* visits(2500, { pause: 4 })).toEqual([])
    }).pipe(Effect.scoped, Effect.provide(layer(ReplayBacklogMemory.layer)))
  )

  it.effect("loses, repeats and reorders no event where the backlog is remote", () =>
    Effect.gen(function* () {
      expect(yield* visits(500, { pause: 20 })).toEqual([])
    }).pipe(Effect.scoped, Effect.provide(layer(distantBacklog)))
  )

  it.effect("lets every client finish where the backlog is remote and slower than new events", () =>
    Effect.gen(function* () {
      const { statistics } = yield* HttpTransport
      const forEver = eventually(Effect.map(statistics, ({ eventsForwarded }) => eventsForwarded > 30_000))
      const faults = yield* Effect.raceFirst(
        visits(200, { pause: 4 }),
        Effect.as(forEver, ["Somebody was kept waiting"])
      )
      expect(faults).toEqual([])
    }).pipe(Effect.scoped, Effect.provide(layer(distantBacklog)))
  )
})
