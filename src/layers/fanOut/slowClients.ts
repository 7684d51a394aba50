/**
 * When a slow client is dropped. The sinks of all transports keep to it.
 */

/** How much may wait for a client in this process, in bytes. A client that lags further behind is dropped. */
export const maxQueuedBytes = 1024 * 1024

export interface QueueLimit {
  /** What the stream begins with does not count: all clients share it. */
  readonly begin: (frames: Uint8Array) => void
  /** Whether a client may be given frames behind so many bytes that wait. A frame that nothing waits in front of may. */
  readonly admits: (queuedBytes: number, frames: Uint8Array) => boolean
}

export const makeQueueLimit = (): QueueLimit => {
  let limit = maxQueuedBytes
  return {
    begin: ({ length }) => {
      limit = maxQueuedBytes + length
    },
    admits: (queuedBytes, { length }) => {
      if (queuedBytes === 0) {
        // What waits behind a frame that is larger than the limit has room, too.
        limit = maxQueuedBytes + (length > maxQueuedBytes ? length : 0)
      }
      return queuedBytes + length <= limit
    }
  }
}
