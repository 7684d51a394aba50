/**
 * Whether a screen is there, by what it says of itself.
 */
import type { Screen } from "../../services/Slices.ts"

type Presence = Pick<Screen, "drawing" | "renewMs" | "visible">

const silentMs = 90_000

/** How long a screen may be unheard of, in milliseconds, unless it has its own stream; for ever if it does not say how often it renews. */
export const silentAfterMs = ({ renewMs, ...said }: Presence): number =>
  renewMs !== undefined ? 2 * renewMs : reportsItself(said) ? silentMs : Number.POSITIVE_INFINITY

/** Whether it says if it is visible or draws. */
export const reportsItself = ({ drawing, visible }: Presence): boolean =>
  visible !== undefined || drawing !== undefined

export const isHidden = ({ drawing, visible }: Presence): boolean => visible === false || drawing === false

/** For how long it is not silent, which the end of its lease makes shorter. */
export const silenceMs = (said: Screen): number =>
  Math.min(Date.parse(said.until) - Date.parse(said.heardAt), silentAfterMs(said))
