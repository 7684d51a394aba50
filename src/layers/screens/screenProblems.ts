/**
 * The problems of a screen.
 */

import { defined } from "../../internal/schemas.ts"
import type { Problem } from "../../services/Problem.ts"
import type { Screen } from "../../services/Slices.ts"
import type { ScreenStatus } from "../../services/View.ts"
import { silenceMs } from "./Consumers.ts"

/**
 * How long a screen may be away without a problem, in milliseconds: its page may be reloading, or the controller has
 * just started.
 */
export const settlingMs = 15_000

/** How long a page may be hidden while it loads or switches, in milliseconds. */
const hiddenMs = 10_000

/** How many restarts in ten minutes are no problem, for a player or an expected screen. */
export const maxRestarts = 2

/** Codes that are no problem outside opening hours. */
export const awayCodes: ReadonlySet<string> = new Set([
  "screen:silent",
  "screen:closed",
  "screen:hidden",
  "screen:never-seen"
])

/**
 * The problems of an expected screen are errors, because visitors see nothing, or something wrong. Those of another
 * screen are warnings, and its absence is none. `startTime` is the start of the controller, `page` the address of its
 * page.
 */
export function* problemsOf(
  screen: Omit<ScreenStatus, "problems">,
  now: number,
  startTime: string,
  page?: string
): Generator<Problem> {
  const { id, isExpected, name, said, since, word } = screen
  const { restarts = 0, runs = [] } = said ?? {}
  const problem = (code: string, text: string): Problem => ({
    code,
    severity: isExpected ? "error" : "warning",
    subject: id,
    text: `Screen ${name} ${text}`
  })
  const begun = defined({ since })
  const lasts = (millis: number) => since === undefined || now - Date.parse(since) >= millis

  if (word === "behind") {
    const text = `has been behind since ${since}: it still shows version ${said?.versionId}. If this continues, load its page again`
    yield { ...problem("screen:behind", text), severity: "warning", ...begun }
  }
  if (word === "problem" && said?.problem !== undefined) {
    yield { ...problem("screen:problem", `has had a problem since ${since}: ${said.problem}`), ...begun }
  }
  if (word === "hidden" && lasts(hiddenMs)) {
    const text =
      said?.visible === false
        ? "is hidden: close what is in front of its page, or show its window"
        : "is hidden: its page no longer draws anything. Load the page again"
    yield { ...problem("screen:hidden", text), ...begun }
  }
  if (word === "silent" && isExpected && isMissed(said, since, now, startTime)) {
    const text = `last reported at ${since}: check that it is on, and start its page or program again`
    yield { ...problem("screen:silent", text), ...begun }
  }
  if (word === "closed" && isExpected && lasts(settlingMs)) {
    yield { ...problem("screen:closed", `was closed at ${since}: start its page or program again`), ...begun }
  }
  if (word === "never seen" && lasts(settlingMs)) {
    const address = `${page ?? "its page with "}?screen=${encodeURIComponent(id)}`
    const text = `has shown nothing yet: open ${address}, or start its program with the id ${JSON.stringify(id)} (the "consumerId" of its ack)`
    yield { ...problem("screen:never-seen", text), ...begun }
  }
  if (runs.length > 0) {
    const text = `has ${runs.length} pages or programs with its id: ${runs.map(runText).join("; ")}. Close all except one, or give each its own id`
    yield problem("screen:duplicate", text)
  }
  if (restarts > maxRestarts && isExpected) {
    const text = `was started again ${restarts} times in the last ten minutes: see the log of its browser or program`
    yield problem("screen:restarting", text)
  }
}

/**
 * Whether the controller has listened long enough to miss this screen. After a start, it must listen as long as a
 * present screen may be silent.
 */
const isMissed = (said: Screen | undefined, since = "", now: number, startTime: string): boolean =>
  said === undefined || since >= startTime || now - Date.parse(startTime) >= silenceMs(said)

const runText = ({ since, visible }: NonNullable<Screen["runs"]>[number]): string =>
  `one since ${since}${visible === false ? ", hidden" : ""}`
