/** Says which version a screen shows, so that it stays on disk, and what it cannot show. */

/** How often an ack is renewed at least, in milliseconds: who misses two renewals counts as silent. */
export const renewMs = 60_000

/** Less than that, for a page that is not visible polls once a minute. */
const settledMs = 50_000
const retryMs = 15_000

export interface Ack {
  readonly versionId: string
  readonly problem: string | undefined
}

/**
 * Sends the ack, unless the same was sent a short while ago. Where that fails, it is sent again by a later call. By the wall
 * clock, whose jumps do no more than to renew it: a laptop that has slept for an hour has no lease any more.
 */
export const makeAcks = (post: (ack: Ack) => Promise<unknown>) => {
  let sent = ""
  let sentAt = 0
  let waitMs = 0
  let isSending = false

  const acknowledge = async (current: () => Ack | undefined): Promise<void> => {
    const ack = current()
    const text = JSON.stringify(ack)
    if (!ack || isSending || (text === sent && Math.abs(Date.now() - sentAt) < waitMs)) {
      return
    }
    isSending = true
    sent = text
    sentAt = Date.now()
    waitMs = await post(ack).then(
      () => settledMs,
      () => retryMs
    )
    isSending = false
    return acknowledge(current)
  }

  return acknowledge
}
