/**
 * Frames on their way to all clients, in order.
 *
 * It owns who is a client, and when frames go out: in batches, with a turn of the event loop in between, so that a burst
 * makes few writes and clients can keep up with it. What the frames say belongs to the transport.
 *
 * Frames are numbered. A client is given every frame from the number on that was the next one when it joined.
 */
import { makeSlidingQueue } from "../../internal/slidingQueue.ts"

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

/** The part of a sink that deals with frames on their way. */
export type FanOutSink = Pick<FrameSink, "queuedBytes" | "send">

export interface FanOut<Sink extends FanOutSink, Client = void> {
  readonly add: (frame: string) => void
  /** Gives a sink every frame that is added from now on, and none that waits already. */
  readonly join: (sink: Sink, client: Client) => void
  /** Whether it was a client. */
  readonly leave: (sink: Sink) => boolean
  readonly has: (sink: Sink) => boolean
  /** How many clients there are. */
  readonly size: () => number
  /** All clients, in the order in which they joined. */
  readonly clients: () => Iterable<readonly [Sink, Client]>
  /** Sends a batch now, or what is left of the last flush first, and the rest in turns of its own. */
  readonly flush: () => void
}

/** Who learns of what did not get through. */
export interface DropListener {
  /** A sink has given its client up, which is none any more, and was to be given so many frames. */
  readonly dropped: (frames: number) => void
  /** Too much waits: a frame was not sent, to so many clients. */
  readonly missed: (clients: number) => void
}

/** The clock and the event loop of a fan-out: Node's, or those of a test. */
export interface FanOutScheduler {
  /** A time in milliseconds that never goes back. */
  readonly now: () => number
  /** Runs the task in the next turn of the event loop. */
  readonly soon: (task: () => void) => void
  /** Runs the task after so many milliseconds. */
  readonly later: (task: () => void, milliseconds: number) => void
}

const nodeScheduler: FanOutScheduler = {
  now: () => performance.now(),
  soon: (task) => setImmediate(task),
  later: (task, milliseconds) => setTimeout(task, milliseconds)
}

/** The size of a batch, about, in characters. */
const batchLength = 64 * 1024

/** How many frames may wait, and how many characters in all. Of more, everybody misses the oldest. */
export const maxWaiting = 4096
export const maxWaitingLength = 64 * 1024 * 1024

/** A client with more bytes queued is lagging. The next batch waits for it, but only so long. */
const laggingBytes = 256 * 1024
const stallTimeoutMs = 100

interface Member<Client> {
  readonly client: Client
  /** The number of the first frame that it is given. */
  readonly from: number
  laggingSince: number
}

export const makeFanOut = <Sink extends FanOutSink, Client = void>(
  dropListener: DropListener,
  scheduler: FanOutScheduler = nodeScheduler
): FanOut<Sink, Client> => {
  const members = new Map<Sink, Member<Client>>()
  const waiting = makeSlidingQueue<string>({
    maxLength: maxWaiting,
    maxSize: maxWaitingLength,
    onDropped: () => {
      dropListener.missed(awaiting(next - waiting.length() - 1))
    }
  })
  /** The number of the next frame that is added. */
  let next = 0
  /** The greatest `from` of all members. */
  let lastJoined = 0
  let scheduled = false

  /** How many clients the frame of that number is for. */
  const awaiting = (number: number) => {
    if (number >= lastJoined) {
      return members.size
    }
    let count = 0
    for (const { from } of members.values()) {
      count += from <= number ? 1 : 0
    }
    return count
  }

  const send = (sink: Sink, bytes: Uint8Array, frames: number) => {
    if (!sink.send(bytes)) {
      members.delete(sink)
      dropListener.dropped(frames)
    }
  }

  /** Of frames whose first has that number, each client is given those that are for it. */
  const sendFrames = (frames: ReadonlyArray<string>, first: number) => {
    const all = Buffer.from(frames.join(""))
    let some = all
    let someFrom = first
    for (const [sink, { from }] of members) {
      if (from <= first) {
        send(sink, all, frames.length)
      } else if (from < first + frames.length) {
        if (from !== someFrom) {
          some = Buffer.from(frames.slice(from - first).join(""))
          someFrom = from
        }
        send(sink, some, first + frames.length - from)
      }
    }
  }

  const sendBatch = () => {
    const first = next - waiting.length()
    const frames: Array<string> = []
    let length = 0
    while (length < batchLength) {
      const frame = waiting.takeFirst()
      if (frame === undefined) {
        break
      }
      frames.push(frame)
      length += frame.length
    }
    if (frames.length > 0) {
      sendFrames(frames, first)
    }
  }

  /** Whether somebody who reads would fall behind further by another batch. */
  const isAwaited = () => {
    const now = scheduler.now()
    let awaited = false
    for (const [sink, member] of members) {
      member.laggingSince =
        sink.queuedBytes() > laggingBytes ? Math.min(member.laggingSince, now) : Number.POSITIVE_INFINITY
      awaited ||= now - member.laggingSince < stallTimeoutMs && now >= member.laggingSince
    }
    return awaited
  }

  const schedule = () => {
    if (waiting.length() > 0) {
      scheduled = true
      scheduler.soon(goOn)
    }
  }

  const goOn = () => {
    if (isAwaited()) {
      scheduler.later(goOn, 1)
    } else {
      scheduled = false
      sendBatch()
      schedule()
    }
  }

  return {
    add: (frame) => {
      next += 1
      waiting.offer(frame, frame.length)
    },
    join: (sink, client) => {
      lastJoined = next
      members.set(sink, { client, from: next, laggingSince: Number.POSITIVE_INFINITY })
    },
    leave: (sink) => members.delete(sink),
    has: (sink) => members.has(sink),
    size: () => members.size,
    clients: function* () {
      for (const [sink, { client }] of members) {
        yield [sink, client] as const
      }
    },
    flush: () => {
      if (!scheduled) {
        sendBatch()
        schedule()
      }
    }
  }
}
