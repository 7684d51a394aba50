/**
 * What the leases of a content's versions say of the screens that show them.
 */
import * as Array from "effect/Array"
import { countText } from "../../internal/readable.ts"
import type { Row } from "../../services/StatusSnapshot.ts"
import type { Lease, VersionOverview } from "../../services/VersionStore.ts"
import { kv, text } from "./rows.ts"

/** A screen as its lease says, and whether it shows the active version. */
interface Screen extends Lease {
  readonly active: boolean
}

const screensOf = (versions: ReadonlyArray<VersionOverview>): ReadonlyArray<Screen> =>
  versions.flatMap(({ active, leases }) => leases.map((lease) => ({ ...lease, active })))

/** How many screens are listed. */
const maxListed = 20

/** A sentence for each screen that has a problem. */
export const screenTexts = (versions: ReadonlyArray<VersionOverview>): ReadonlyArray<string> => {
  const texts = screensOf(versions).flatMap(({ consumerId, problem, problemSince }) =>
    problem === undefined || problemSince === undefined
      ? []
      : [`Screen ${consumerId} has a problem since ${isoTime(problemSince)}: ${problem}`]
  )
  const unlisted = texts.length - maxListed
  return [
    ...texts.slice(0, maxListed),
    ...(unlisted > 0 ? [`${countText(unlisted, "more screen")} with a problem`] : [])
  ]
}

/** In red where no screen shows the active version without a problem. */
export const screenProblemRows = (versions: ReadonlyArray<VersionOverview>): ReadonlyArray<Row> => {
  const isShown = screensOf(versions).some(
    ({ active, isSilent, problem }) => active && !isSilent && problem === undefined
  )
  const tone = isShown || !versions.some(({ active }) => active) ? "warn" : "error"
  return screenTexts(versions).map((problem) => text(problem, tone))
}

/** Those that are silent come last. */
export const screenRows = (versions: ReadonlyArray<VersionOverview>): ReadonlyArray<Row> => {
  const [heard, silent] = Array.partition(screensOf(versions), ({ isSilent }) => isSilent)
  const screens = [...heard, ...silent]
  const unlisted = screens.length - maxListed
  return [
    ...screens.slice(0, maxListed).map(screenRow),
    ...(unlisted > 0 ? [text(`and ${unlisted} more`, "neutral")] : [])
  ]
}

const screenRow = ({ active, consumerId, heardAt, isSilent, problem, versionId }: Screen): Row => {
  const what =
    problem !== undefined
      ? "has a problem"
      : active
        ? "shows the active version"
        : `shows version ${versionId}`
  return kv(
    consumerId,
    isSilent ? `silent, last heard of at ${isoTime(heardAt)}` : `${what}, heard of at ${isoTime(heardAt)}`,
    active && !isSilent && problem === undefined ? "ok" : "neutral"
  )
}

export const isoTime = (millis: number): string => new Date(millis).toISOString()
