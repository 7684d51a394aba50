/**
 * The clients of an event stream: adds and removes them, counts them, and describes them in the state. A technician must see
 * which clients use the event streams, and when the stream of a screen ended.
 */
import type { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import { isPlainFileName } from "../../files/fileName.ts"
import { makeSteadyNow, unsafeMonotonicMillis } from "../../internal/monotonicMillis.ts"
import type { TransportState } from "../../services/Slices.ts"
import { maxConsumers } from "../../services/VersionStore.ts"
import { type FanOut, type FrameSink, makeFanOut } from "../fanOut/FanOut.ts"
import { type TooManyClients, tooManyClients } from "../http/errors.ts"
import { printableHeader } from "../http/RequestHead.ts"
import type { Recorder, TransportStatistics } from "./statistics.ts"

/** The clients of an event stream. */
export interface Clients {
  /** Adds a client: its sink gets the preamble, then every frame. */
  readonly join: (sink: FrameSink, client?: Client) => Effect.Effect<void, TooManyClients>
  /** Removes a client: its sink gets nothing more, and its slot is free. Does nothing for other sinks. */
  readonly leave: (sink: FrameSink) => void
  readonly size: () => number
  /** Sends frames to all clients, as `FanOut` does. */
  readonly send: FanOut<Member>["send"]
  /** Ends all streams. */
  readonly endStreams: () => void
  /** Ends all streams; a sink that joins afterwards is ended at once. */
  readonly close: Effect.Effect<void>
  /** Counts clients and events. */
  readonly recorder: Recorder
  readonly statistics: Effect.Effect<TransportStatistics>
  /** The open streams by client, and the consumers that have or had streams, for the state. */
  readonly clientState: Effect.Effect<Pick<TransportState, "consumers" | "largestOrigin" | "streams">>
  /** Emits when clients have come or gone. For one reader. */
  readonly changes: Stream.Stream<void>
}

export interface Options {
  readonly maxClients: number
  /** Makes the recorder, which gets the time in milliseconds since 1970. */
  readonly makeRecorder: (now: () => number) => Recorder
  /** The first bytes of a stream that begins now. */
  readonly preamble: () => Uint8Array
}

export const make = Effect.fnUntraced(function* ({ makeRecorder, maxClients, preamble }: Options) {
  const changes = yield* Queue.sliding<void>(1)
  const clock = yield* Effect.clock
  const recorder = makeRecorder(() => clock.unsafeCurrentTimeMillis())
  const ended: EndedStreams = new Map()
  const fanOut = makeFanOut<Member>((client, missed) => {
    recorder.left(missed)
    noteEnd(ended, client, unsafeMonotonicMillis(clock))
    changes.unsafeOffer(undefined)
  })

  const join = (sink: FrameSink, client: Client = {}) =>
    Effect.suspend((): Effect.Effect<void, TooManyClients> => {
      if (fanOut.places() >= maxClients) {
        return tooManyClients(maxClients)
      }
      sink.begin(preamble())
      if (fanOut.join(sink, { ...client, since: unsafeMonotonicMillis(clock) })) {
        recorder.joined()
        changes.unsafeOffer(undefined)
      }
      return Effect.void
    })

  const clients: Clients = {
    join,
    leave: fanOut.leave,
    size: fanOut.size,
    send: fanOut.send,
    endStreams: fanOut.endAll,
    close: Effect.sync(fanOut.close),
    recorder,
    statistics: Effect.sync(recorder.statistics),
    clientState: Effect.map(makeSteadyNow(), ({ monotonic, wall }) => {
      const isoTime = (millis: number) => new Date(wall - monotonic + millis).toISOString()
      const members = fanOut.clients()
      return { ...groupsOf(members, isoTime), consumers: consumersOf(members, ended, isoTime) }
    }),
    changes: Stream.fromQueue(changes)
  }
  return clients
})

/** The client of a request. */
export interface Client {
  readonly origin?: string | undefined
  readonly userAgent?: string | undefined
  /** The consumer of the stream, from `/events?consumer=ID`. */
  readonly consumer?: string | undefined
}

export const clientOf = ({
  headers,
  originalUrl
}: Pick<HttpServerRequest, "headers" | "originalUrl">): Client => {
  const query = originalUrl.split("?", 2)[1]
  const id = query === undefined ? null : new URLSearchParams(query).get("consumer")
  return {
    origin: headers.origin,
    userAgent: headers["user-agent"],
    consumer: id !== null && isPlainFileName(id) ? id : undefined
  }
}

/** A client, and when it joined, in monotonic milliseconds. */
export interface Member extends Client {
  readonly since: number
}

/** How many groups the state has at most. */
export const maxGroups = 10

/** Groups clients by origin and user agent, and finds the origin with the most streams. */
export const groupsOf = (
  members: ReadonlyArray<Member>,
  isoTime: (since: number) => string
): Pick<TransportState, "largestOrigin" | "streams"> => {
  const groups = new Map<string, TransportState["streams"][number]>()
  const byOrigin = new Map<string, number>()
  for (const member of members) {
    const origin = printableHeader(member.origin ?? "")
    const userAgent = printableHeader(member.userAgent ?? "")
    const key = `${origin}\n${userAgent}`
    const { since = isoTime(member.since), streams = 0 } = groups.get(key) ?? {}
    groups.set(key, { origin, userAgent, streams: streams + 1, since })
    byOrigin.set(origin, (byOrigin.get(origin) ?? 0) + 1)
  }
  const [origin = "", streams = 0] = mostFirst([...byOrigin], ([, streams]) => streams)[0] ?? []
  return {
    streams: mostFirst([...groups.values()], ({ streams }) => streams).slice(0, maxGroups),
    largestOrigin: origin === "" ? undefined : { origin, streams }
  }
}

const mostFirst = <A>(entries: ReadonlyArray<A>, count: (entry: A) => number): ReadonlyArray<A> =>
  entries.toSorted((one, other) => count(other) - count(one))

/** When streams of consumers began and ended, the latest last. Not a Ref: streams end in callbacks of sockets, where no fiber runs. */
export type EndedStreams = Map<string, { readonly since: number; readonly endedAt: number }>

/** Records the end of a stream. Above `maxConsumers`, the earliest entry is removed. */
export const noteEnd = (ended: EndedStreams, { consumer, since }: Member, endedAt: number): void => {
  if (consumer === undefined) {
    return
  }
  ended.delete(consumer)
  ended.set(consumer, { since, endedAt })
  for (const id of [...ended.keys()].slice(0, -maxConsumers)) {
    ended.delete(id)
  }
}

/** The consumers that have or had a stream. Open streams come first, then the streams that ended last. */
export const consumersOf = (
  members: ReadonlyArray<Member>,
  ended: EndedStreams,
  isoTime: (since: number) => string
): NonNullable<TransportState["consumers"]> => {
  const open = new Map(
    members.toReversed().flatMap(({ consumer, since }) => (consumer === undefined ? [] : [[consumer, since]]))
  )
  return [
    ...[...open].map(([id, since]) => ({ id, since: isoTime(since) })),
    ...[...ended]
      .filter(([id]) => !open.has(id))
      .reverse()
      .map(([id, { endedAt, since }]) => ({ id, since: isoTime(since), endedAt: isoTime(endedAt) }))
  ].slice(0, maxConsumers)
}
