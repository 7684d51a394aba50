/** Says which version a screen shows, so that it stays on disk, what it cannot show, whether it is seen, and when it goes. */
import type { Presence } from "./presence.ts"

/** How often an ack is renewed at least, in milliseconds: a browser wakes a page that is not visible once a minute. */
export const renewMs = ({ visible }: Presence): number => (visible ? 20_000 : 60_000)

/** How much earlier it is renewed: the page looks at it every few seconds. */
const earlyMs = 5000
const retryMs = 15_000

export interface Ack extends Presence {
  readonly versionId: string
  readonly problem: string | undefined
  /** The last one: the page goes. */
  readonly closing?: true
}

export interface Acks {
  /**
   * Sends the ack, unless the same was sent a short while ago. Where that fails, it is sent again by a later call. By the wall
   * clock, whose jumps do no more than to renew it: a laptop that has slept for an hour has no lease any more.
   */
  readonly send: () => Promise<void>
  /** Sends it though the same was sent. */
  readonly renew: () => Promise<void>
  /** Says that the page goes, where it has sent an ack, and sends no other until `open` says that it is back. */
  readonly close: () => void
  readonly open: () => void
}

/**
 * `current` is what there is to say, and nothing as long as no version is shown; `posted` is called after each that was sent, with why it
 * has failed.
 */
export const makeAcks = (
  current: () => Ack | undefined,
  post: (ack: Ack) => Promise<unknown>,
  posted: (error?: unknown) => void
): Acks => {
  let last: Ack | undefined
  let sentAt = 0
  let waitMs = 0
  let isSending = false
  let isClosed = false

  const send = async (): Promise<void> => {
    const ack = isClosed ? undefined : current()
    const isSame = JSON.stringify(ack) === JSON.stringify(last)
    if (!ack || isSending || (isSame && Math.abs(Date.now() - sentAt) < waitMs)) {
      return
    }
    isSending = true
    last = ack
    sentAt = Date.now()
    try {
      await post(ack)
      waitMs = renewMs(ack) - earlyMs
      posted()
    } catch (error) {
      waitMs = retryMs
      posted(error)
    }
    isSending = false
    return send()
  }

  return {
    send,
    renew: () => {
      last = undefined
      return send()
    },
    close: () => {
      isClosed = true
      if (last) {
        post({ ...last, closing: true }).catch(posted)
        last = undefined
      }
    },
    open: () => {
      isClosed = false
    }
  }
}
