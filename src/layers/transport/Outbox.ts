/**
 * Frames on their way to all clients, in order.
 *
 * It owns when they go out: in pieces, with a turn of the event loop in between, so that a burst makes few
 * writes and sockets can drain. What the frames say, and who may be a client, belongs to the hub.
 */

/** Where the frames of one client go. No method waits or throws. */
export interface FrameSink {
  /** Takes what the stream begins with, once, before anything else. */
  readonly begin: (frames: string) => void
  /** Takes frames; `false` where it gives the client up instead, which has fallen too far behind. */
  readonly send: (frames: Uint8Array) => boolean
  /** Ends the stream. */
  readonly end: () => void
}

export interface Outbox {
  readonly add: (frame: string) => void
  /** Gives a sink every frame that is added from now on, and none that waits already. */
  readonly join: (sink: FrameSink) => void
  readonly leave: (sink: FrameSink) => void
  /** Hands out a piece now, or what is left of the last hand-out first, and the rest in turns of its own. */
  readonly handOut: () => void
}

/** Who is told of what did not get through. */
export interface Losses {
  /** A sink has given its client up. */
  readonly dropped: () => void
  /** So many frames were not sent to a sink. */
  readonly missed: (frames: number) => void
}

/** The size of a piece, about, in characters. */
const pieceLength = 64 * 1024

/** How many frames may wait. Of more, everybody misses the oldest. */
export const maxWaiting = 4096

export const makeOutbox = (losses: Losses): Outbox => {
  /** A sink among the frames has joined there: it is given what comes behind. */
  let waiting: Array<string | FrameSink> = []
  /** The index of the first that waits. */
  let first = 0
  let scheduled = false
  const sinks = new Set<FrameSink>()

  const send = (text: string, frames: number) => {
    if (frames > 0) {
      const bytes = Buffer.from(text)
      for (const sink of sinks) {
        if (!sink.send(bytes)) {
          sinks.delete(sink)
          losses.dropped()
          losses.missed(frames)
        }
      }
    }
  }

  const sendPiece = () => {
    let piece = ""
    let frames = 0
    for (; first < waiting.length && piece.length < pieceLength; first++) {
      const entry = waiting[first] ?? ""
      if (typeof entry === "string") {
        piece += entry
        frames += 1
      } else {
        send(piece, frames)
        piece = ""
        frames = 0
        sinks.add(entry)
      }
    }
    send(piece, frames)
  }

  const dropOldest = () => {
    while (waiting.length - first > maxWaiting) {
      const entry = waiting[first++]
      if (typeof entry === "object") {
        sinks.add(entry)
      } else {
        losses.missed(sinks.size)
      }
    }
  }

  const forgetSent = () => {
    if (first === waiting.length || first > maxWaiting) {
      waiting = waiting.slice(first)
      first = 0
    }
  }

  const handOut = () => {
    if (scheduled) {
      return
    }
    sendPiece()
    forgetSent()
    if (waiting.length > 0) {
      scheduled = true
      setImmediate(() => {
        scheduled = false
        handOut()
      })
    }
  }

  return {
    add: (frame) => {
      waiting.push(frame)
      dropOldest()
      forgetSent()
    },
    join: (sink) => {
      if (waiting.length > first) {
        waiting.push(sink)
      } else {
        sinks.add(sink)
      }
    },
    leave: (sink) => {
      sinks.delete(sink)
      const place = waiting.indexOf(sink, first)
      if (place !== -1) {
        waiting[place] = ""
      }
    },
    handOut
  }
}
