/**
 * Sends one frame to many clients.
 *
 * Owns the list of clients, and when frames are sent: in batches, with a turn of the event loop in between, so that a
 * burst makes few writes and clients can keep up. Also owns how far a client may lag. The transport decides what the
 * frames say.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { nextTurn } from "../../internal/nextTurn.ts"

/** Where the frames of one client go. No method waits or throws. */
export interface FrameSink {
  /** Receives the preamble of the stream, once, before all frames. */
  readonly begin: (frames: Uint8Array) => void
  /** Receives frames. Returns `false` if it drops the client instead, which has fallen too far behind. */
  readonly send: (frames: Uint8Array) => boolean
  /** How many of the received bytes are not sent yet. */
  readonly queuedBytes: () => number
  /** Ends the stream. */
  readonly end: () => void
  /** Whether the client keeps its place after the end of its stream, until it leaves. Default no. */
  readonly leavesLater?: boolean
}

export interface FanOut<Client> {
  /**
   * Adds a client: its sink gets every frame from now on. After `close`, ends the sink instead. Returns whether the
   * client was added.
   */
  readonly join: (sink: FrameSink, client: Client) => boolean
  /** Removes a client: its sink gets nothing more. Does nothing if the sink is no client. */
  readonly leave: (sink: FrameSink) => void
  /** The number of clients. */
  readonly size: () => number
  /** As `size`, with the clients that keep their places after the end of their streams. */
  readonly places: () => number
  /** All clients, in the order in which they joined. */
  readonly clients: () => ReadonlyArray<Client>
  /** Sends the frames received so far, then ends the streams of all clients. */
  readonly endAll: () => void
  /** As `endAll`, and refuses new clients. */
  readonly close: () => void
  /**
   * Sends frames to all clients, one caller at a time. Each batch is received and sent in one synchronous step: a sink
   * that joins in between gets the later batches only, and the caller knows which frames were sent by then.
   */
  readonly send: (frames: Iterator<string, unknown>) => Effect.Effect<void>
}

/** The approximate size of a batch, in characters. */
const batchLength = 64 * 1024

/** A client with more bytes queued is lagging. The next batch waits for it, for a limited time in milliseconds. */
const laggingBytes = 256 * 1024
const lagLimitMs = 100

interface Member<Client> {
  readonly client: Client
  laggingSince: number
}

/** The clients of a fan-out, and the sinks that keep their places after the end of their streams. */
const makeMembers = <Client>(onLeave: (client: Client, missed: number) => void) => {
  const members = new Map<FrameSink, Member<Client>>()
  const leaving = new Set<FrameSink>()

  const leave = (sink: FrameSink, missed = 0) => {
    const member = members.get(sink)
    if (member !== undefined) {
      members.delete(sink)
      onLeave(member.client, missed)
    }
    leaving.delete(sink)
  }

  return {
    join: (sink: FrameSink, client: Client) => {
      members.set(sink, { client, laggingSince: Number.POSITIVE_INFINITY })
    },
    leave: (sink: FrameSink) => leave(sink),
    size: () => members.size,
    places: () => members.size + leaving.size,
    clients: () => Array.from(members.values(), ({ client }) => client),
    send: (frames: ReadonlyArray<string>) => {
      const bytes = Buffer.from(frames.join(""))
      for (const [sink] of members) {
        if (!sink.send(bytes)) {
          leave(sink, frames.length)
        }
      }
    },
    endAll: () => {
      for (const sink of [...members.keys()]) {
        leave(sink)
        if (sink.leavesLater === true) {
          leaving.add(sink)
        }
        sink.end()
      }
    },
    /** Whether the next batch waits for a client that lags, but has not reached the time limit. */
    isAwaited: (now: number) => {
      let awaited = false
      for (const [sink, member] of members) {
        member.laggingSince =
          sink.queuedBytes() > laggingBytes ? Math.min(member.laggingSince, now) : Number.POSITIVE_INFINITY
        awaited ||= now - member.laggingSince < lagLimitMs && now >= member.laggingSince
      }
      return awaited
    }
  }
}

/** `onLeave` is called for each client that is gone, with the frames it missed if it was dropped, or else 0. */
export const makeFanOut = <Client = void>(
  onLeave: (client: Client, missed: number) => void
): FanOut<Client> => {
  const members = makeMembers(onLeave)
  const { clients, isAwaited, leave, places, size } = members
  let isClosed = false
  /** Received and not sent yet; empty between two synchronous steps. */
  let batch: Array<string> = []

  const flush = () => {
    if (batch.length > 0) {
      const frames = batch
      batch = []
      members.send(frames)
    }
  }

  /** Returns whether these were the last frames. */
  const sendBatch = (frames: Iterator<string, unknown>): boolean => {
    let length = 0
    let next = frames.next()
    while (!next.done) {
      batch.push(next.value)
      length += next.value.length
      if (length >= batchLength) {
        break
      }
      next = frames.next()
    }
    flush()
    return next.done === true
  }

  const whenReady: Effect.Effect<void> = Effect.flatMap(Clock.currentTimeMillis, (now) =>
    isAwaited(now) ? Effect.zipRight(Effect.sleep(1), whenReady) : Effect.void
  )

  const send = (frames: Iterator<string, unknown>): Effect.Effect<void> =>
    Effect.suspend(() =>
      sendBatch(frames)
        ? Effect.void
        : nextTurn.pipe(Effect.zipRight(whenReady), Effect.zipRight(send(frames)))
    )

  const endAll = () => {
    flush()
    members.endAll()
  }

  const close = () => {
    isClosed = true
    endAll()
  }

  const join = (sink: FrameSink, client: Client) => {
    if (isClosed) {
      sink.end()
    } else {
      members.join(sink, client)
    }
    return !isClosed
  }

  return { join, leave, size, places, clients, endAll, close, send }
}

/** How many bytes may wait for a client in this process. The sink of a client that lags further behind drops it. */
export const maxQueuedBytes = 1024 * 1024

/** The limit of a client's queue. A class, because closures for thousands of clients would take more memory. */
export class QueueLimit {
  private limit = maxQueuedBytes

  /** The preamble does not count: all clients share it. */
  begin({ length }: Uint8Array): void {
    this.limit = maxQueuedBytes + length
  }

  /** Whether a client may get frames behind `queuedBytes`. Frames of any size may join an empty queue. */
  admits(queuedBytes: number, { length }: Uint8Array): boolean {
    if (queuedBytes === 0) {
      // Otherwise, a frame larger than the limit would leave no room for the frames behind it.
      this.limit = maxQueuedBytes + (length > maxQueuedBytes ? length : 0)
    }
    return queuedBytes + length <= this.limit
  }
}
