/**
 * What the runner asks of the processes that it measures with, and what the event streams carry.
 */

export interface ServerOptions {
  readonly keepAliveMs: number
  /** The URL of a NATS server that several share. Default: the services of one process. */
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
  /** How many came behind a later one, or twice. */
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
  /** Done when every client has all expected events, or none has had one for ten seconds. */
  readonly deliveries: () => Promise<Deliveries>
  readonly disconnect: () => void
  /** One request after the other on each of the connections: answers per second. */
  readonly request: (plan: RequestPlan) => Promise<{ readonly rate: number; readonly generator: number }>
}

export const liveEvent = "content:bench"
export const replayedEvent = "content:version:promoted"

/**
 * Ends the one string of a live event that tells when it was published, 16 digits of microseconds. It stands
 * nowhere else in the stream: who counts it counts deliveries.
 */
export const liveMark = "~"

/** Stands in the replayed event and nowhere else. */
export const replayMark = "^"

/** What every client is given first: it has joined when it has read this. */
export const replayedPayload = { versionId: "20260101T000000Z", mark: replayMark }

/** The payload of a live event; as a frame it has 170 bytes. */
export const livePayload = () => ({
  type: liveEvent,
  text: "an event of usual size, with some words for people to read".padEnd(71, "."),
  at: `${Math.round(microseconds()).toString().padStart(16, "0")}${liveMark}`
})

/** Of a clock that all processes of a machine share. */
export const microseconds = (): number => {
  const [seconds, nanoseconds] = process.hrtime()
  return seconds * 1e6 + nanoseconds / 1e3
}
