/**
 * The calls from the runner to the processes of the benchmark, and the events of the streams.
 */

export interface ServerOptions {
  readonly keepAliveMs: number
  /** The URL of a NATS server that several processes share. Default: the services of one process. */
  readonly nats?: string
}

export interface PublishPlan {
  readonly events: number
  /** Time between two events; with 0 all are published at once. */
  readonly intervalMs: number
}

/** A server under test. */
export interface ServerApi {
  /** Listens on a free port, which it returns. */
  readonly start: (options: ServerOptions) => Promise<number>
  /** Done when the last event is published. */
  readonly publish: (plan: PublishPlan) => Promise<void>
  /** User and system time of the process since its start, in microseconds. */
  readonly cpu: () => number
  /** Resident memory in bytes, after a garbage collection. */
  readonly rss: () => Promise<number>
}

export interface Deliveries {
  readonly missing: number
  /** How many events came after a later event, or twice. */
  readonly disordered: number
  /** From publish to the client's read, in milliseconds. */
  readonly medianDelay: number
  readonly p99Delay: number
  /** Share of the time in which the generator used a processor. */
  readonly generator: number
}

export interface RequestPlan {
  readonly port: number
  readonly connections: number
  readonly durationMs: number
  readonly request: string
}

export interface ConnectPlan {
  readonly port: number
  readonly clients: number
  /** Each client connects when the one before it has the backlog. Default: all at once. */
  readonly inTurn?: boolean
}

/** The load generator. */
export interface LoadApi {
  /** Opens event streams. Done when each has the backlog: how long that took, in milliseconds. */
  readonly connect: (plan: ConnectPlan) => Promise<number>
  /** Counts anew. */
  readonly expect: (plan: { readonly events: number }) => void
  /** Done when every client has all expected events, or when no client has received an event for ten seconds. */
  readonly deliveries: () => Promise<Deliveries>
  readonly disconnect: () => void
  /** One request after the other on each of the connections: answers per second. */
  readonly request: (plan: RequestPlan) => Promise<{ readonly rate: number; readonly generator: number }>
}

export const liveEvent = "content:bench"
export const replayedEvent = "content:version:promoted"

/**
 * Ends the string in a live event with its time of publication, 16 digits of microseconds. It occurs nowhere else in
 * the stream, so that counting it counts deliveries.
 */
export const liveMark = "~"

/** Occurs only in the replayed event. */
export const replayMark = "^"

/** The first data of every client: a client has joined when it has read this. */
export const replayedPayload = { versionId: "20260101T000000Z", mark: replayMark }

/** The payload of a live event; as a frame it has 170 bytes. */
export const livePayload = () => ({
  type: liveEvent,
  text: "an event of usual size, with some words for people to read".padEnd(71, "."),
  at: `${Math.round(microseconds()).toString().padStart(16, "0")}${liveMark}`
})

/** The time of a clock that all processes of a machine share. */
export const microseconds = (): number => {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e6 + nanoseconds / 1e3
}
