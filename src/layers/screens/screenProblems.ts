/**
 * What is wrong with a screen.
 */
import { defined } from "../../internal/schemas.ts"
import type { Problem } from "../../services/Problem.ts"
import type { Screen } from "../../services/Slices.ts"
import type { ScreenStatus } from "../../services/View.ts"
import { silenceMs } from "./presence.ts"

/** How long a screen may be away without a problem: a page is loaded again, or the controller has just started. */
export const settlingMs = 15_000

/** How long a page may be hidden, while it is loaded or switched. */
const hiddenMs = 10_000

/** How often a player, or an expected screen, may be started again in ten minutes. */
export const maxRestarts = 2

/** Codes of what is no problem outside the hours. */
export const awayCodes: ReadonlySet<string> = new Set([
  "screen:silent",
  "screen:closed",
  "screen:hidden",
  "screen:never-seen"
])

/**
 * An expected screen has errors, because visitors see nothing, or something wrong; another one has warnings, and none for being away.
 * `startTime` is the start of the controller, `page` the address of its page.
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
    const text = `is behind since ${since}: it still shows version ${said?.versionId}. If it goes on, load its page again`
    yield { ...problem("screen:behind", text), severity: "warning", ...begun }
  }
  if (word === "problem" && said?.problem !== undefined) {
    yield { ...problem("screen:problem", `has a problem since ${since}: ${said.problem}`), ...begun }
  }
  if (word === "hidden" && lasts(hiddenMs)) {
    const text =
      said?.visible === false
        ? "is hidden: close what is in front of its page, or show its window"
        : "is hidden: its page draws nothing any more, load it again"
    yield { ...problem("screen:hidden", text), ...begun }
  }
  if (word === "silent" && isExpected && isMissed(said, since, now, startTime)) {
    const text = `was last heard of at ${since}: see whether it is on, and start its page or program again`
    yield { ...problem("screen:silent", text), ...begun }
  }
  if (word === "closed" && isExpected && lasts(settlingMs)) {
    yield { ...problem("screen:closed", `was closed at ${since}: start its page or program again`), ...begun }
  }
  if (word === "never seen" && lasts(settlingMs)) {
    const address = `${page ?? "its page with "}?screen=${encodeURIComponent(id)}`
    const text = `was never seen to show anything: open ${address}, or start its program with the consumerId ${JSON.stringify(id)}`
    yield { ...problem("screen:never-seen", text), ...begun }
  }
  if (runs.length > 0) {
    const text = `is ${runs.length} pages or programs with one id: ${runs.map(runText).join("; ")}. Close the others, or give each an id of its own`
    yield problem("screen:duplicate", text)
  }
  if (restarts > maxRestarts && isExpected) {
    const text = `was started again ${restarts} times in the last ten minutes: see the log of its browser or program`
    yield problem("screen:restarting", text)
  }
}

/** Whether it would have been heard of: not where it was silent while the controller was off, until that has listened as long. */
const isMissed = (said: Screen | undefined, since = "", now: number, startTime: string): boolean =>
  said === undefined || since >= startTime || now - Date.parse(startTime) >= silenceMs(said)

const runText = ({ since, visible }: NonNullable<Screen["runs"]>[number]): string =>
  `one since ${since}${visible === false ? ", hidden" : ""}`
