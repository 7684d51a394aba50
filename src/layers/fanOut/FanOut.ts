/**
 * One frame to many clients.
 *
 * It owns who is a client, and when frames go out: in batches, with a turn of the event loop in between, so that a burst
 * makes few writes and clients can keep up with it. It owns how far a client may lag. What the frames say belongs to the transport.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { nextTurn } from "../../internal/nextTurn.ts"

/** Where the frames of one client go. No method waits or throws. */
export interface FrameSink {
  /** Takes what the stream begins with, once, before anything else. */
  readonly begin: (frames: Uint8Array) => void
  /** Takes frames; `false` where it gives the client up instead, which has fallen too far behind. */
  readonly send: (frames: Uint8Array) => boolean
  /** How much of what it took has not gone out yet, in bytes. */
  readonly queuedBytes: () => number
  /** Ends the stream. */
  readonly end: () => void
}

export interface FanOut<Client> {
  /** Gives a sink every frame that is taken from now on, or ends it if it comes after `close`. Whether it is a client. */
  readonly join: (sink: FrameSink, client: Client) => boolean
  /** From now on the sink is given nothing more. Harmless for one that is no client. */
  readonly leave: (sink: FrameSink) => void
  /** How many clients there are. */
  readonly size: () => number
  /** All clients, in the order in which they joined. */
  readonly clients: () => ReadonlyArray<Client>
  /** Ends the streams of all clients, behind the frames that are taken. */
  readonly endAll: () => void
  /** As `endAll`, for good. */
  readonly close: () => void
  /**
   * Sends frames to all clients, one caller at a time. Frames are taken and sent batch by batch, each in one synchronous step:
   * a sink that joins in between gets the frames that are taken afterwards, and the maker of the frames knows how far that is.
   */
  readonly send: (frames: Iterator<string, unknown>) => Effect.Effect<void>
}

/** The size of a batch, about, in characters. */
const batchLength = 64 * 1024

/** A client with more bytes queued is lagging. The next batch waits for it, but only so long. */
const laggingBytes = 256 * 1024
const lagLimitMs = 100

interface Member<Client> {
  readonly client: Client
  laggingSince: number
}

/** `left` is called with each that is a client no more, and how many frames it was to be given where its sink has given it up, or 0. */
export const makeFanOut = <Client = void>(left: (client: Client, missed: number) => void): FanOut<Client> => {
  const members = new Map<FrameSink, Member<Client>>()
  let isClosed = false

  const leave = (sink: FrameSink, missed = 0) => {
    const member = members.get(sink)
    if (member !== undefined) {
      members.delete(sink)
      left(member.client, missed)
    }
  }

  /** Taken, and not sent yet; empty between two synchronous steps. */
  let batch: Array<string> = []

  const flush = () => {
    if (batch.length > 0) {
      const frames = batch
      batch = []
      const bytes = Buffer.from(frames.join(""))
      for (const [sink] of members) {
        if (!sink.send(bytes)) {
          leave(sink, frames.length)
        }
      }
    }
  }

  /** Whether these were all. */
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

  /** Whether somebody who reads would fall behind further by another batch. */
  const isAwaited = (now: number) => {
    let awaited = false
    for (const [sink, member] of members) {
      member.laggingSince =
        sink.queuedBytes() > laggingBytes ? Math.min(member.laggingSince, now) : Number.POSITIVE_INFINITY
      awaited ||= now - member.laggingSince < lagLimitMs && now >= member.laggingSince
    }
    return awaited
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
    for (const sink of [...members.keys()]) {
      leave(sink)
      sink.end()
    }
  }

  return {
    join: (sink, client) => {
      if (isClosed) {
        sink.end()
      } else {
        members.set(sink, { client, laggingSince: Number.POSITIVE_INFINITY })
      }
      return !isClosed
    },
    leave: (sink) => leave(sink),
    size: () => members.size,
    clients: () => Array.from(members.values(), ({ client }) => client),
    endAll,
    close: () => {
      isClosed = true
      endAll()
    },
    send
  }
}

/** How much may wait for a client in this process, in bytes. A client that lags further behind is dropped, by its sink. */
export const maxQueuedBytes = 1024 * 1024

/** The limit of the queue of a client. A class, because closures for thousands of clients would take more memory. */
export class QueueLimit {
  private limit = maxQueuedBytes

  /** What the stream begins with does not count: all clients share it. */
  begin({ length }: Uint8Array): void {
    this.limit = maxQueuedBytes + length
  }

  /** Whether the client may be given frames behind so many bytes that wait. A frame that nothing waits in front of may. */
  admits(queuedBytes: number, { length }: Uint8Array): boolean {
    if (queuedBytes === 0) {
      // What waits behind a frame that is larger than the limit has room, too.
      this.limit = maxQueuedBytes + (length > maxQueuedBytes ? length : 0)
    }
    return queuedBytes + length <= this.limit
  }
}
