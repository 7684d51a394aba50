/** Detects whether visitors can see the page: the browser shows it, and draws it. */

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
