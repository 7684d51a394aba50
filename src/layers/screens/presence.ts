/**
 * Whether a screen is present, by its own reports.
 */
import type { Screen } from "../../services/Slices.ts"

type Presence = Pick<Screen, "drawing" | "renewMs" | "visible">

const silentMs = 90_000

/**
 * How long after its last report a screen counts as silent, in milliseconds, unless it has an event stream. Never, if
 * it does not say how often it renews its lease.
 */
export const silentAfterMs = ({ renewMs, ...presence }: Presence): number =>
  renewMs !== undefined ? 2 * renewMs : reportsItself(presence) ? silentMs : Number.POSITIVE_INFINITY

/** Whether the screen reports if it is visible or draws. */
export const reportsItself = ({ drawing, visible }: Presence): boolean =>
  visible !== undefined || drawing !== undefined

export const isHidden = ({ drawing, visible }: Presence): boolean => visible === false || drawing === false

/** How long after its last report a screen counts as silent, in milliseconds; at most until its lease ends. */
export const silenceMs = (screen: Screen): number =>
  Math.min(Date.parse(screen.until) - Date.parse(screen.heardAt), silentAfterMs(screen))
