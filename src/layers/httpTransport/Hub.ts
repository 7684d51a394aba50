/**
 * The one place where events become frames and frames reach clients (specification, section 4.1 and 4.2).
 *
 * The live events are one Stream that is run once, and each frame is encoded once, however many clients there are.
 * Pings are a Stream of their own: merged into one, an event costs twice the processor time.
 *
 * A replayed frame is remembered and put into the fanOut under the same lock that a client joins under: what a client
 * is given from the backlog and what it is given live neither overlap nor leave a gap.
 *
 * The hub knows nothing of sockets: a client is a `FrameSink`.
 */
import * as Array from "effect/Array"
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { makeFairLock } from "../../internal/fairLock.ts"
import { encodeJson } from "../../internal/JsonText.ts"
import { printableStart } from "../../internal/printable.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import { makeWarnOnce, makeWarnWhile } from "../../internal/warnOnce.ts"
import { type BusEvent, EventBus } from "../../services/EventBus.ts"
import type { TransportStatistics } from "../../services/HttpTransport.ts"
import { type RememberedEvent, ReplayBacklog } from "../../services/ReplayBacklog.ts"
import { type FrameSink, makeFanOut } from "../fanOut/FanOut.ts"
import { makeStreamSink } from "../fanOut/StreamSink.ts"
import { type Client, makeAudience, type StreamGroup } from "./Audience.ts"
import * as EventFilter from "./EventFilter.ts"
import type { HttpTransportOptions } from "./HttpTransportOptions.ts"
import * as SseFrame from "./SseFrame.ts"
import { makeRecorder } from "./statistics.ts"

export interface Hub {
  /** Makes the sink that of a client: it is given `retry` and the backlog, then everything live. */
  readonly join: (sink: FrameSink, client?: Client) => Effect.Effect<void, TooManyClients>

  /**
   * A client as a Stream of frames: `retry` and the backlog, then everything live. It ends when the hub closes, or when
   * it lags too far behind. It is a client until the scope ends.
   */
  readonly stream: (client?: Client) => Effect.Effect<Stream.Stream<Uint8Array>, TooManyClients, Scope.Scope>

  /** From now on the sink is given nothing more, and its slot is free. Harmless for one that is no client. */
  readonly leave: (sink: FrameSink) => void

  readonly statistics: Effect.Effect<TransportStatistics>

  /** Who has the streams that are open now, the one with the most first. */
  readonly streams: Effect.Effect<ReadonlyArray<StreamGroup>>

  /** Ends all streams; whoever joins afterwards is ended at once. */
  readonly close: Effect.Effect<void>
}

export class TooManyClients extends Schema.TaggedError<TooManyClients>()("vitrine/TooManyClients", {
  maxClients: Schema.Number
}) {
  override get message() {
    return `Too many SSE clients: all ${this.maxClients} event streams are in use. Raise "maxClients", or close a client.`
  }
}

interface Preamble {
  readonly remembered: ReadonlyArray<RememberedEvent>
  readonly frames: Uint8Array
}

/** A name as the log may show it. */
const shownName = (name: string): string => printableStart(JSON.stringify(name), 100)

/** How many events are encoded before the oldest are dropped that are too many. */
const encodedAtOnce = 64

export type Options = Pick<HttpTransportOptions, "events" | "keepAliveMs" | "maxClients" | "replayEvents">

/** A hub that lives as long as the scope. Its subscription exists when this Effect returns. */
export const make = Effect.fnUntraced(function* (options: Options) {
  const bus = yield* EventBus
  const backlog = yield* ReplayBacklog
  const isForwarded = EventFilter.make(options.events)
  const isReplayed = new Set(options.replayEvents)
  /** Others may remember into the same backlog. */
  const isOwn = ({ name }: RememberedEvent) =>
    isReplayed.has(name) && isForwarded(name) && SseFrame.isEventName(name)
  const lock = makeFairLock()
  const warnOfName = makeWarnOnce(
    (name) => `Events named ${shownName(name)} are not forwarded: the name has a line break or a NUL.`
  )
  const warnOfPayload = makeWarnOnce(
    (name) => `An event ${shownName(name)} has what JSON cannot hold: a placeholder is sent in its place.`
  )
  const warnOfBacklog = makeWarnWhile(
    (message) => `The replay backlog fails, and clients that connect later may miss events: ${message}`
  )
  const warnOfLost = yield* Effect.once(
    Effect.logWarning(
      "Events are published faster than they can be sent: the oldest are dropped, and clients do not see them."
    )
  )
  const recorder = makeRecorder()
  const fanOut = makeFanOut(recorder)
  const clients = makeAudience<FrameSink>()
  let joining = 0
  let opening: Preamble = { remembered: [], frames: Buffer.from(SseFrame.retry) }
  let lastSequence: number | undefined
  let closed = false

  /** Never waits for a client: whoever is slow to take frames must not keep the hub from remembering them. */
  const flush = (frames: ReadonlyArray<string>) =>
    Effect.sync(() => {
      for (const frame of frames) {
        fanOut.add(frame)
      }
      fanOut.flush()
    })

  const forward = (events: ReadonlyArray<BusEvent>) =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      const latest = new Map<string, RememberedEvent>()
      const incomplete = new Set<string>()
      const frames: globalThis.Array<string> = []
      for (const { name, payload } of events) {
        recorder.forwarded(name, now)
        if (clients.size() === 0 && !isReplayed.has(name)) {
          continue
        }
        const { isComplete, text: data } = encodeJson(payload)
        if (!isComplete) {
          incomplete.add(name)
        }
        if (isReplayed.has(name)) {
          latest.delete(name)
          latest.set(name, { name, data })
        }
        frames.push(SseFrame.event(name, data))
      }
      const remember = Effect.forEach(latest.values(), backlog.remember, { discard: true }).pipe(
        Effect.zipRight(warnOfBacklog.works),
        Effect.catchAllDefect((defect) => warnOfBacklog.fails(messageOf(defect)))
      )
      return Effect.zipRight(
        Effect.forEach(incomplete, warnOfPayload, { discard: true }),
        latest.size === 0 ? flush(frames) : lock(Effect.zipRight(remember, flush(frames)))
      )
    })

  /** How many events the bus dropped before they came here. */
  const countLost = (events: Chunk.Chunk<BusEvent>) => {
    let lost = 0
    for (const { sequence } of events) {
      lost += Math.max(0, sequence - (lastSequence ?? sequence - 1) - 1)
      lastSequence = Math.max(sequence, lastSequence ?? 0)
    }
    return lost
  }

  /** Everybody may have missed them. */
  const reportLost = (lost: number) =>
    Effect.suspend(() => {
      recorder.missed(lost * clients.size())
      return warnOfLost
    })

  const accept = (events: Chunk.Chunk<BusEvent>) => {
    const lost = countLost(events)
    const matching = Chunk.toReadonlyArray(events).filter(({ name }) => isForwarded(name))
    const [unsendable, sendable] = Array.partition(matching, ({ name }) => SseFrame.isEventName(name))
    return (lost === 0 ? Effect.void : reportLost(lost)).pipe(
      Effect.zipRight(Effect.forEach(unsendable, ({ name }) => warnOfName(name), { discard: true })),
      Effect.zipRight(Effect.forEach(Array.chunksOf(sendable, encodedAtOnce), forward, { discard: true }))
    )
  }

  /** What a stream begins with, encoded once for all who join before it changes. */
  const preambleOf = (remembered: ReadonlyArray<RememberedEvent>) => {
    const isSame =
      remembered.length === opening.remembered.length &&
      remembered.every((event, index) => event === opening.remembered[index])
    if (!isSame) {
      const frames = remembered.filter(isOwn).map(({ data, name }) => SseFrame.event(name, data))
      opening = { remembered, frames: Buffer.from(SseFrame.retry + frames.join("")) }
    }
    return opening.frames
  }

  const begin = (sink: FrameSink, client?: Client) => (remembered: ReadonlyArray<RememberedEvent>) => {
    sink.begin(preambleOf(remembered))
    if (closed) {
      sink.end()
    } else {
      clients.join(sink, client)
      recorder.joined()
      fanOut.join(sink)
    }
  }

  const join = (sink: FrameSink, client?: Client) =>
    Effect.suspend(() => {
      if (clients.size() + joining >= options.maxClients) {
        return new TooManyClients({ maxClients: options.maxClients })
      }
      joining += 1
      return lock(Effect.map(backlog.snapshot, begin(sink, client))).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            joining -= 1
          })
        )
      )
    })

  const leave = (sink: FrameSink) => {
    if (clients.leave(sink)) {
      recorder.left()
      fanOut.leave(sink)
    }
  }

  const stream = (client?: Client) =>
    Effect.flatMap(makeStreamSink, (sink) =>
      Effect.acquireRelease(Effect.as(join(sink, client), sink.frames), () => Effect.sync(() => leave(sink)))
    )

  yield* Effect.forkScoped(Stream.runForEachChunk(yield* bus.subscribe, accept))
  yield* Stream.fromSchedule(Schedule.spaced(options.keepAliveMs)).pipe(
    Stream.runForEach(() => flush([SseFrame.ping])),
    Effect.forkScoped
  )

  const hub: Hub = {
    join,
    stream,
    leave,
    statistics: Effect.sync(recorder.statistics),
    streams: Effect.sync(clients.groups),
    close: Effect.sync(() => {
      closed = true
      for (const sink of clients.members()) {
        leave(sink)
        sink.end()
      }
    })
  }
  return hub
})
