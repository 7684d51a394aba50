/** Whether visitors can see the page: the browser shows it, and draws it. */

/** What a page reports about it. */
export interface Presence {
  /** What the browser says: it is neither in the background nor minimized. */
  readonly visible: boolean
  /** Whether frames are drawn; never of a page that is not visible. */
  readonly drawing: boolean
}

/** How long a frame may take, in milliseconds: a page that decodes pictures draws none for a while. */
const limitMs = 3000

/**
 * Each look at a visible page asks for a frame, unless one is still to come: one that has not come for three seconds is not drawn.
 * A page that does not look costs nothing.
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
