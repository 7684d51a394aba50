/**
 * The one place where events become frames and frames reach clients (specification, section 4.1 and 4.2).
 *
 * Bus events and pings are one merged Stream that is run once, and each frame is encoded once, however many
 * clients there are. A frame is remembered and put into the outbox under the same lock that a client joins
 * under: what a client is given from the backlog and what it is given live neither overlap nor leave a gap.
 *
 * The hub knows nothing of sockets: a client is a `FrameSink`.
 */
import type * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { type BusEvent, EventBus } from "../../services/EventBus.ts"
import type { TransportStatistics } from "../../services/HttpTransport.ts"
import { type RememberedEvent, ReplayBacklog } from "../../services/ReplayBacklog.ts"
import * as EventFilter from "./EventFilter.ts"
import type { HttpTransportOptions } from "./HttpTransportOptions.ts"
import { jsonText } from "./JsonText.ts"
import { type FrameSink, makeOutbox } from "./Outbox.ts"
import * as SseFrame from "./SseFrame.ts"

export interface Hub {
  /** Makes the sink a client until the scope ends: `retry`, the backlog, then everything live. */
  readonly join: (sink: FrameSink) => Effect.Effect<void, TooManyClients, Scope.Scope>

  readonly statistics: Effect.Effect<TransportStatistics>

  /** Ends all streams; whoever joins afterwards is ended at once. */
  readonly close: Effect.Effect<void>
}

export class TooManyClients extends Schema.TaggedError<TooManyClients>()("TooManyClients", {
  maxClients: Schema.Number
}) {
  override get message() {
    return `All ${this.maxClients} event streams are in use. Raise "maxClients", or close a client.`
  }
}

export type Options = Pick<HttpTransportOptions, "events" | "keepAliveMs" | "maxClients" | "replayEvents">

/** A hub that lives as long as the scope. Its subscription exists when this Effect returns. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const bus = yield* EventBus
  const backlog = yield* ReplayBacklog
  const isForwarded = EventFilter.make(options.events)
  const isReplayed = new Set(options.replayEvents)
  const lock = (yield* Effect.makeSemaphore(1)).withPermits(1)
  const warnOnce = yield* makeWarnOnce
  const outbox = makeOutbox()
  const clients = new Set<FrameSink>()
  let mostClients = 0
  let eventsForwarded = 0
  let lastEvent = Option.none<{ readonly name: string; readonly at: Date }>()
  let closed = false

  /** Never waits for a client: whoever is slow to take frames must not keep the hub from remembering them. */
  const accept = Effect.fnUntraced(function* (inputs: Chunk.Chunk<Input>) {
    const at = new Date(yield* Clock.currentTimeMillis)
    const latest = new Map<string, RememberedEvent>()
    for (const input of inputs) {
      if (input === "ping") {
        outbox.add(SseFrame.ping)
      } else if (SseFrame.isEventName(input.name)) {
        const { name } = input
        const data = jsonText(input.payload)
        outbox.add(SseFrame.event(name, data))
        eventsForwarded += 1
        lastEvent = Option.some({ name, at })
        if (isReplayed.has(name)) {
          latest.delete(name)
          latest.set(name, { name, data })
        }
      } else {
        yield* warnOnce(input.name)
      }
    }
    yield* Effect.forEach(latest.values(), backlog.remember, { discard: true })
    outbox.handOut()
  }, lock)

  const join = (sink: FrameSink) =>
    Effect.gen(function* () {
      if (clients.size >= options.maxClients) {
        return yield* new TooManyClients({ maxClients: options.maxClients })
      }
      const remembered = yield* backlog.snapshot
      sink.send(
        Buffer.from(SseFrame.retry + remembered.map(({ data, name }) => SseFrame.event(name, data)).join(""))
      )
      if (closed) {
        sink.end()
      } else {
        clients.add(sink)
        mostClients = Math.max(mostClients, clients.size)
        outbox.join(sink)
      }
    }).pipe(lock)

  const leave = (sink: FrameSink) =>
    Effect.sync(() => {
      clients.delete(sink)
      outbox.leave(sink)
    })

  const events = Stream.filter(yield* bus.subscribe, ({ name }) => isForwarded(name))
  const pings = Stream.as(Stream.fromSchedule(Schedule.spaced(options.keepAliveMs)), "ping" as const)
  yield* Stream.merge(events, pings, { haltStrategy: "left" }).pipe(
    Stream.runForEachChunk(accept),
    Effect.forkScoped
  )

  const hub: Hub = {
    join: (sink) => Effect.acquireRelease(join(sink), () => leave(sink)),
    statistics: Effect.sync(() => ({
      ...outbox.losses(),
      clients: clients.size,
      mostClients,
      eventsForwarded,
      lastEvent
    })),
    close: Effect.sync(() => {
      closed = true
      outbox.clear()
      for (const sink of clients) {
        sink.end()
      }
      clients.clear()
    })
  }
  return hub
})

type Input = BusEvent | "ping"

/** How many names that cannot be sent are kept in mind, so that each is warned of once. */
const maxWarnedNames = 100

const makeWarnOnce = Effect.sync(() => {
  const warned = new Set<string>()
  return (name: string) =>
    Effect.suspend(() => {
      if (warned.has(name) || warned.size >= maxWarnedNames) {
        return Effect.void
      }
      warned.add(name)
      return Effect.logWarning(
        `Events named ${JSON.stringify(name)} are not forwarded: the name has a line break or a NUL`
      )
    })
})
