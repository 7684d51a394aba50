/**
 * The screens: the state of each as one of a fixed list, its problems, and its row in the status.
 */
import * as Order from "effect/Order"
import { hasPassed } from "../../internal/monotonicMillis.ts"
import type { Problem } from "../../services/Problem.ts"
import type { ContentState, Screen, TransportState } from "../../services/Slices.ts"
import type { GlobalState, Row } from "../../services/StatusSnapshot.ts"
import type { ScreenState, ScreenStatus } from "../../services/View.ts"
import { isHidden, reportsItself, silenceMs } from "../leases/Consumers.ts"
import { openAt } from "../status/openingHours.ts"
import { withMutes } from "../status/problems.ts"
import { firstRows, kv, tones, worstTone } from "../status/rows.ts"
import { contentServersOf, contentsOf, transportsOf } from "../status/slices.ts"

type State = Pick<GlobalState, "plugins" | "system">

/** A screen without the settings of its configuration. */
type Found = Pick<ScreenStatus, "active" | "content" | "id" | "lastReport" | "since" | "word">

/**
 * The worst first. Omits unexpected screens that have closed, or whose lease has ended. `readAt` is when the screens of a
 * content were read, and `knownSince` when they were first read: a screen is not silent because the disk is slow, or the
 * start of the controller.
 */
export const screensOf = (
  state: State,
  now: number,
  readAt: (content: string) => number = () => now,
  knownSince: (content: string) => number | undefined = () => Date.parse(state.system.startTime)
): ReadonlyArray<ScreenStatus> => {
  const { screens = [], startTime } = state.system
  const expected = new Map(screens.map((screen) => [screen.id, screen]))
  const openSince = openAt(state.system, now)
  const mark = withMutes(state, now)
  const contents = contentsOf(state)
  const streams = streamsOf(state)
  const page = contentServersOf(state).find(([, { page }]) => page !== undefined)?.[1].page
  const timeOf = (content: string | undefined) => (content === undefined ? now : readAt(content))
  const sinceOf = (content: string | undefined) => (content === undefined ? undefined : knownSince(content))
  const heard = contents.flatMap(([content, slice]) =>
    (slice.screens ?? []).map(
      (lastReport): Found => ({
        id: lastReport.id,
        content,
        active: lastReport.versionId === slice.versionId,
        lastReport,
        ...stateOf(lastReport, slice, streams.get(lastReport.id), readAt(content))
      })
    )
  )
  const reported = new Set(heard.map(({ id }) => id))
  const present = new Set(heard.filter(isHeardOf).map(({ id }) => id))
  const listed = heard.filter((screen) =>
    expected.has(screen.id)
      ? isHeardOf(screen) || !present.has(screen.id)
      : screen.word !== "closed" && timeOf(screen.content) < Date.parse(screen.lastReport?.until ?? "")
  )
  const unseen = screens
    .filter(({ id }) => !reported.has(id))
    .map(
      ({ id }): Found => ({
        id,
        active: false,
        content: contents[0]?.[0],
        ...unheardOf(streams.get(id), startTime, timeOf(contents[0]?.[0]))
      })
    )
  return [...listed, ...unseen]
    .map((found): ScreenStatus => {
      const { hours, label = found.id } = expected.get(found.id) ?? {}
      const isClosed = openSince(hours) === undefined && isAwayState(found.word)
      const screen = {
        ...found,
        name: label,
        isExpected: expected.has(found.id),
        word: isClosed ? ("closed for the day" as const) : found.word
      }
      return {
        ...screen,
        problems: mark([...problemsOf(screen, timeOf(screen.content), sinceOf(screen.content), page)])
      }
    })
    .toSorted(Order.mapInput(Order.number, rankOf))
}

const rankOf = (screen: ScreenStatus): number =>
  tones.indexOf(worstTone(screen, "neutral")) + (screen.word === "showing" ? 0 : 0.5)

const awayStates: ReadonlySet<string> = new Set<ScreenState>(["silent", "closed", "hidden", "never seen"])

/** Whether a screen that is off can be in this state. */
export const isAwayState = (word: string): boolean => awayStates.has(word)

const goneStates: ReadonlySet<ScreenState> = new Set(["silent", "closed", "closed for the day"])

const isHeardOf = ({ word }: Pick<ScreenStatus, "word">): boolean => !goneStates.has(word)

/** How many present screens show a version. */
export const countOn = (screens: ReadonlyArray<ScreenStatus>, versionId: string): number =>
  screens.filter((screen) => screen.lastReport?.versionId === versionId && isHeardOf(screen)).length

type Stream = NonNullable<TransportState["consumers"]>[number]

/** The event stream of each consumer: the open one, or the one that ended last. */
const streamsOf = (state: State): ReadonlyMap<string, Stream> =>
  new Map(
    transportsOf(state)
      .flatMap(([, { consumers = [] }]) => consumers)
      // "open" sorts behind all times.
      .toSorted(Order.mapInput(Order.string, ({ endedAt = "open" }) => endedAt))
      .map((stream) => [stream.id, stream])
  )

/** The state of a screen that never reported a version. */
const unheardOf = ({ endedAt }: Partial<Stream> = {}, startTime: string, now: number) =>
  endedAt !== undefined && now - Date.parse(endedAt) >= settlingMs
    ? inState("silent", endedAt)
    : inState("never seen", startTime)

const behindMs = 60_000

const stateOf = (
  lastReport: Screen,
  { activeSince = "", versionId }: ContentState,
  stream: Stream | undefined,
  now: number
) => {
  const { closedAt, heardAt, hiddenSince, problem, problemSince, runs, shownSince } = lastReport
  if (closedAt !== undefined) {
    return inState("closed", closedAt)
  }
  if (now >= silentAt(lastReport, stream)) {
    return inState("silent", later(heardAt, stream?.endedAt))
  }
  if (problem !== undefined || runs !== undefined) {
    return inState("problem", problemSince ?? runs?.[1]?.since)
  }
  if (isHidden(lastReport)) {
    return inState("hidden", hiddenSince)
  }
  const behindSince = later(activeSince, shownSince)
  return lastReport.versionId !== versionId && now - Date.parse(behindSince) > behindMs
    ? inState("behind", behindSince)
    : inState("showing", shownSince)
}

const inState = (word: ScreenState, since?: string) => ({ word, since })

const later = (one: string, other = ""): string => (other > one ? other : one)

/** When the screen counts as silent, in milliseconds since 1970. */
const silentAt = (lastReport: Screen, stream: Stream | undefined): number => {
  const { heardAt } = lastReport
  if (stream?.endedAt !== undefined && stream.endedAt > heardAt) {
    return Date.parse(stream.endedAt) + settlingMs
  }
  const isOpen = stream !== undefined && stream.endedAt === undefined
  return isOpen && !reportsItself(lastReport)
    ? Number.POSITIVE_INFINITY
    : Date.parse(heardAt) + silenceMs(lastReport)
}

/** A row for each screen. */
export const screenRows = (screens: ReadonlyArray<ScreenStatus>): ReadonlyArray<Row> =>
  firstRows(screens, (screen) =>
    kv(screen.name, screenText(screen), worstTone(screen, screen.word === "showing" ? "ok" : "neutral"))
  )

const screenText = ({ active, lastReport, since, word }: ScreenStatus): string => {
  if (lastReport === undefined) {
    return word
  }
  if (word === "closed") {
    return `closed at ${lastReport.closedAt}`
  }
  if (word === "silent") {
    return `silent, last report at ${since}`
  }
  const version = active ? "the active version" : `version ${lastReport.versionId}`
  const { heardAt, problem } = lastReport
  const what = word === "problem" && problem !== undefined ? `${word}: ${problem}` : word
  return `${what}${word === "showing" ? " " : ", on "}${version}, last report at ${heardAt}`
}

/**
 * How long a screen may be away without a problem, in milliseconds: its page may be reloading, or the controller has
 * just started.
 */
const settlingMs = 15_000

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
 * screen are warnings, and its absence is none. `knownSince` is when screens could first be heard of, if they could, and
 * `page` the address of the page.
 */
function* problemsOf(
  screen: Omit<ScreenStatus, "problems">,
  now: number,
  knownSince = Number.POSITIVE_INFINITY,
  page?: string
): Generator<Problem> {
  const { id, isExpected, lastReport, name, since, word } = screen
  const { restarts = 0, runs = [] } = lastReport ?? {}
  const problem = (code: string, text: string, since?: string): Problem => ({
    code,
    severity: isExpected ? "error" : "warning",
    subject: id,
    text: `Screen ${name} ${text}`,
    since
  })
  const lasts = (millis: number) => since === undefined || hasPassed(millis, Date.parse(since), now)

  if (word === "behind") {
    const text = `has been behind since ${since}: it still shows version ${lastReport?.versionId}. If this continues, load its page again`
    yield { ...problem("screen:behind", text, since), severity: "warning" }
  }
  if (word === "problem" && lastReport?.problem !== undefined) {
    yield problem("screen:problem", `has had a problem since ${since}: ${lastReport.problem}`, since)
  }
  if (word === "hidden" && lasts(hiddenMs)) {
    const text =
      lastReport?.visible === false
        ? "is hidden: close what is in front of its page, or show its window"
        : "is hidden: its page no longer draws anything. Load the page again"
    yield problem("screen:hidden", text, since)
  }
  if (word === "silent" && isExpected && isMissed(lastReport, since, now, knownSince)) {
    const text = `last reported at ${since}: check that it is on, and start its page or program again`
    yield problem("screen:silent", text, since)
  }
  const isSettled = now - knownSince >= settlingMs
  if (word === "closed" && isExpected && isSettled && lasts(settlingMs)) {
    yield problem("screen:closed", `was closed at ${since}: start its page or program again`, since)
  }
  if (word === "never seen" && isSettled) {
    const address = `${page ?? "its page with "}?screen=${encodeURIComponent(id)}`
    const text = `has shown nothing yet: open ${address}, or start its program with the id ${JSON.stringify(id)} (the "consumerId" of its ack)`
    yield problem("screen:never-seen", text, since)
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
const isMissed = (lastReport: Screen | undefined, since = "", now: number, knownSince: number): boolean =>
  lastReport === undefined || Date.parse(since) >= knownSince || now - knownSince >= silenceMs(lastReport)

const runText = ({ since, visible }: NonNullable<Screen["runs"]>[number]): string =>
  `one since ${since}${visible === false ? ", hidden" : ""}`
