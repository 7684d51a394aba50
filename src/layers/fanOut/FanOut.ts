/**
 * Frames on their way to all clients, in order.
 *
 * It owns when they go out: in pieces, with a turn of the event loop in between, so that a burst makes few
 * writes and clients can keep up with it. What the frames say, and who may be a client, belongs to the hub.
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

export interface FanOut {
  readonly add: (frame: string) => void
  /** Gives a sink every frame that is added from now on, and none that waits already. */
  readonly join: (sink: FanOutSink) => void
  readonly leave: (sink: FanOutSink) => void
  /** Hands out a piece now, or what is left of the last hand-out first, and the rest in turns of its own. */
  readonly flush: () => void
}

/** Who is told of what did not get through. */
export interface DropListener {
  /** A sink has given its client up. */
  readonly dropped: () => void
  /** So many frames were not sent to a sink. */
  readonly missed: (frames: number) => void
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

/** The size of a piece, about, in characters. */
const batchLength = 64 * 1024

/** How many frames may wait, and how many characters in all. Of more, everybody misses the oldest. */
export const maxWaiting = 4096
export const maxWaitingLength = 64 * 1024 * 1024

/** A client with more bytes queued is behind. The next piece waits for it, but only so long. */
const laggingBytes = 256 * 1024
const stallTimeoutMs = 100

export const makeFanOut = (
  dropListener: DropListener,
  scheduler: FanOutScheduler = nodeScheduler
): FanOut => {
  /** Frames, with the sinks that have joined in front of each. */
  const waiting = makeSlidingQueue<{ readonly frame: string; readonly joined: Set<FanOutSink> }>({
    maxLength: maxWaiting,
    maxSize: maxWaitingLength,
    onDropped: ({ joined }) => {
      admit(joined)
      dropListener.missed(sinks.size)
    }
  })
  /** Those that have joined behind all of them. */
  let joined = new Set<FanOutSink>()
  /** Each sink, and since when it is behind. */
  const sinks = new Map<FanOutSink, number>()
  let scheduled = false

  const admit = (newcomers: Iterable<FanOutSink>) => {
    for (const sink of newcomers) {
      sinks.set(sink, Number.POSITIVE_INFINITY)
    }
  }

  const send = (text: string, frames: number) => {
    if (frames > 0) {
      const bytes = Buffer.from(text)
      for (const sink of sinks.keys()) {
        if (!sink.send(bytes)) {
          sinks.delete(sink)
          dropListener.dropped()
          dropListener.missed(frames)
        }
      }
    }
  }

  const sendBatch = () => {
    let piece = ""
    let frames = 0
    while (piece.length < batchLength) {
      const entry = waiting.takeFirst()
      if (entry === undefined) {
        break
      }
      if (entry.joined.size > 0) {
        send(piece, frames)
        piece = ""
        frames = 0
        admit(entry.joined)
      }
      piece += entry.frame
      frames += 1
    }
    send(piece, frames)
    admitLast()
  }

  /** Nothing waits that was there before those who have joined behind all. */
  const admitLast = () => {
    if (waiting.length() === 0) {
      admit(joined)
      joined = new Set()
    }
  }

  /** Whether somebody who reads would fall behind further by another piece. */
  const isAwaited = () => {
    const now = scheduler.now()
    let awaited = false
    for (const [sink, laggingSince] of sinks) {
      const since = sink.queuedBytes() > laggingBytes ? Math.min(laggingSince, now) : Number.POSITIVE_INFINITY
      sinks.set(sink, since)
      awaited ||= now - since < stallTimeoutMs && since !== Number.POSITIVE_INFINITY
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
      const before = joined
      joined = new Set()
      waiting.offer({ frame, joined: before }, frame.length)
    },
    join: (sink) => {
      joined.add(sink)
      admitLast()
    },
    leave: (sink) => {
      sinks.delete(sink)
      joined.delete(sink)
      for (const { joined } of waiting) {
        joined.delete(sink)
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
