/**
 * When a slow client is dropped. The sinks of all transports keep to it.
 */

/** How much may wait for a client in this process, in bytes. A client that lags further behind is dropped. */
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
