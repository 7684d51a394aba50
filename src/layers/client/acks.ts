/** Reports the version on the screen, so that it stays on disk, and problems, visibility and the end of the page. */

/** The presence that a page reports. */
export interface Presence {
  /** Whether the page is neither in the background nor minimized, as the browser reports. */
  readonly visible: boolean
  /** Whether frames are drawn; always false for an invisible page. */
  readonly drawing: boolean
}

/** Milliseconds that a frame may take: a page that decodes pictures draws no frame for a while. */
const limitMs = 3000

/**
 * Each look at a visible page requests a frame, unless a request is pending. If it is pending for three seconds, the page is not
 * drawn. Without looks, it costs nothing.
 */
export const makePresence = (): (() => Presence) => {
  let frame = 0
  let askedAt = 0

  return () => {
    const visible = document.visibilityState === "visible"
    if (!visible) {
      cancelAnimationFrame(frame)
      frame = 0
    } else if (!frame) {
      askedAt = performance.now()
      frame = requestAnimationFrame(() => {
        frame = 0
      })
    }
    return { visible, drawing: visible && (!frame || performance.now() - askedAt < limitMs) }
  }
}

/** Milliseconds until an ack is renewed at the latest: browsers wake an invisible page only once a minute. */
export const renewMs = ({ visible }: Presence): number => (visible ? 20_000 : 60_000)

/** How much earlier it may be renewed, in milliseconds: the page checks every few seconds. */
const earlyMs = 5000
const retryMs = 15_000

export interface Ack extends Presence {
  readonly versionId: string
  readonly problem: string | undefined
  /** The ids of the last actions, which it confirms. */
  readonly done: ReadonlyArray<string>
  /** The last ack: the page closes. */
  readonly closing?: true
}

export interface Acks {
  /**
   * Sends the ack, unless the same ack was sent a short time ago. If it fails, a later call sends it again. Uses wall time, so that a
   * machine that slept renews at once.
   */
  readonly send: () => Promise<void>
  /** Sends the ack even if the same ack was sent. */
  readonly renew: () => Promise<void>
  /** Reports that the page closes, if it has sent an ack. Then sends nothing until `open`. */
  readonly close: () => void
  readonly open: () => void
}

/**
 * `current` returns the ack, or nothing while no version is shown; `posted` is called after each ack, with the error if it
 * failed.
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
