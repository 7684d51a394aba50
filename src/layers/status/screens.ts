/**
 * What the screens do: each in one word, what is wrong with it as a problem, and both for the status.
 */
import * as Order from "effect/Order"
import type { Problem } from "../../services/Problem.ts"
import type { ContentState, Screen, TransportState } from "../../services/Slices.ts"
import type { GlobalState, Row } from "../../services/StatusSnapshot.ts"
import { withMutes } from "./mutes.ts"
import { openAt } from "./openingHours.ts"
import { firstRows, kv, problemRow, tones, worstTone } from "./rows.ts"
import { contentsOf, transportsOf } from "./slices.ts"

/**
 * `behind`: it has shown another version than the active one for longer than a minute. `hidden`: it is not visible, or does not draw.
 * `silent`: it was not heard of for two of its renewals if it says how often it renews its lease, for 90 s if it only reports whether it
 * is visible or draws, and else for as long as the lease lasts; also 15 s after the end of its own event stream, if it was not heard of
 * since. An open one keeps those from being silent that report nothing of themselves. `never seen` is only what is expected, and has not
 * said what it shows. `closed for the day`: it would be silent, closed, hidden or never seen, outside its hours.
 */
export type ScreenWord = (typeof screenWords)[number]

/** From the worst. */
export const screenWords = [
  "problem",
  "silent",
  "closed",
  "hidden",
  "never seen",
  "behind",
  "showing",
  "closed for the day"
] as const

/** A screen that is expected, or was heard of. */
export interface ScreenStatus {
  readonly id: string
  /** Its label, or else its id. */
  readonly name: string
  readonly isExpected: boolean
  readonly word: ScreenWord
  /** ISO 8601, UTC; missing where that is not known. Of one that is silent, when it was last heard of. */
  readonly since?: string
  /** What is wrong, errors first. */
  readonly problems: ReadonlyArray<Problem>
  /** The name of its content; missing where there is no content. */
  readonly content?: string
  /** Whether the version that it showed last is the active one. */
  readonly active: boolean
  /** What it said last; missing where it was never seen. */
  readonly said?: Screen
}

type State = Pick<GlobalState, "plugins" | "system">

const behindMs = 60_000
const silentMs = 90_000

/** How long a page may be hidden, while it is loaded or switched. */
const hiddenMs = 10_000

/** How often a player, or an expected screen, may be started again in ten minutes. */
export const maxRestarts = 2

type Presence = Pick<Screen, "drawing" | "renewMs" | "visible">

/** How long a screen may be unheard of, in milliseconds, unless it has its own stream; for ever if it does not say how often it renews. */
export const silentAfterMs = ({ drawing, renewMs, visible }: Presence): number =>
  renewMs !== undefined
    ? 2 * renewMs
    : visible !== undefined || drawing !== undefined
      ? silentMs
      : Number.POSITIVE_INFINITY

export const isHidden = ({ drawing, visible }: Presence): boolean => visible === false || drawing === false

/** How long a screen may be away without a problem: a page is loaded again, or the controller has just started. */
const settlingMs = 15_000

/** The worst first. Unexpected screens that have closed, or whose lease has ended, are left out. */
export const screensOf = (state: State, now: number): ReadonlyArray<ScreenStatus> => {
  const contents = contentsOf(state)
  const expected = new Map((state.system.screens ?? []).map((screen) => [screen.id, screen]))
  const openSince = openAt(state.system, now)
  const streams = streamsOf(state)
  const mark = withMutes(state, now)
  const known = contents.flatMap(([content, slice]) =>
    (slice.screens ?? []).map(
      (said): Found => ({
        id: said.id,
        name: expected.get(said.id)?.label ?? said.id,
        isExpected: expected.has(said.id),
        content,
        active: said.versionId === slice.versionId,
        said,
        ...wordOf(said, slice, streams.get(said.id), now)
      })
    )
  )
  const present = new Set(known.filter((screen) => !isAway(screen)).map(({ id }) => id))
  const listed = known.filter((screen) =>
    screen.isExpected
      ? !isAway(screen) || !present.has(screen.id)
      : screen.word !== "closed" && now < Date.parse(screen.said?.until ?? "")
  )
  const unseen = [...expected].flatMap(
    ([id, { label: name = id }]): ReadonlyArray<Found> =>
      known.some((screen) => screen.id === id)
        ? []
        : [
            {
              id,
              name,
              isExpected: true,
              ...unheardOf(streams.get(id), state.system.startTime, now),
              active: false,
              ...(contents[0] === undefined ? {} : { content: contents[0][0] })
            }
          ]
  )
  return [...listed, ...unseen]
    .map((screen) =>
      openSince(expected.get(screen.id)?.hours) === undefined ? closedForTheDay(screen) : screen
    )
    .map(
      (screen): ScreenStatus => ({
        ...screen,
        problems: mark(problemsOf(screen, now, state.system.startTime))
      })
    )
    .toSorted((one, other) => rankOf(one) - rankOf(other))
}

type Found = Omit<ScreenStatus, "problems">

/** Outside its hours. */
const closedForTheDay = (screen: Found): Found =>
  isAwayWord(screen.word) ? { ...screen, word: "closed for the day" } : screen

const away: ReadonlySet<string> = new Set<ScreenWord>(["silent", "closed", "hidden", "never seen"])

/** Whether a screen that is off can have this word. */
export const isAwayWord = (word: string): boolean => away.has(word)

const isAway = ({ word }: Found): boolean =>
  word === "silent" || word === "closed" || word === "closed for the day"

type Stream = NonNullable<TransportState["consumers"]>[number]

/** The open stream of each consumer, or the one that ended last. */
const streamsOf = (state: State): ReadonlyMap<string, Stream> =>
  new Map(
    transportsOf(state)
      .flatMap(([, { consumers = [] }]) => consumers)
      .toSorted((one, other) => Order.string(endOf(one), endOf(other)))
      .map((stream) => [stream.id, stream])
  )

/** Behind all times where it is open. */
const endOf = ({ endedAt = "open" }: Stream): string => endedAt

/** What is known of a screen that never said what it shows. */
const unheardOf = ({ endedAt }: Partial<Stream> = {}, startTime: string, now: number) =>
  endedAt !== undefined && now - Date.parse(endedAt) >= settlingMs
    ? word("silent", endedAt)
    : word("never seen", startTime)

const wordOf = (
  said: Screen,
  { activeSince = "", versionId }: ContentState,
  stream: Stream | undefined,
  now: number
) => {
  const { closedAt, hiddenSince, problem, problemSince, runs, shownSince } = said
  const behindSince = activeSince > shownSince ? activeSince : shownSince
  const isBehind = said.versionId !== versionId && now - Date.parse(behindSince) > behindMs
  return closedAt !== undefined
    ? word("closed", closedAt)
    : now >= silentAt(said, stream)
      ? word("silent", lastSign(said, stream))
      : problem !== undefined || runs !== undefined
        ? word("problem", problemSince ?? runs?.[1]?.since)
        : isHidden(said)
          ? word("hidden", hiddenSince)
          : isBehind
            ? word("behind", behindSince)
            : word("showing", shownSince)
}

const word = (word: ScreenWord, since?: string) => ({ word, ...(since === undefined ? {} : { since }) })

const lastSign = ({ heardAt }: Screen, { endedAt = "" }: Partial<Stream> = {}): string =>
  endedAt > heardAt ? endedAt : heardAt

/** In milliseconds since 1970. */
const silentAt = (said: Screen, stream: Stream | undefined): number => {
  const { drawing, heardAt, visible } = said
  if (stream?.endedAt !== undefined && stream.endedAt > heardAt) {
    return Date.parse(stream.endedAt) + settlingMs
  }
  if (
    stream !== undefined &&
    stream.endedAt === undefined &&
    visible === undefined &&
    drawing === undefined
  ) {
    return Number.POSITIVE_INFINITY
  }
  return Date.parse(heardAt) + silenceMs(said)
}

/** For how long it is not silent, which the end of its lease makes shorter. */
const silenceMs = (said: Screen): number =>
  Math.min(Date.parse(said.until) - Date.parse(said.heardAt), silentAfterMs(said))

/** Whether it would have been heard of: not where it was silent while the controller was off, until that has listened as long. */
const isMissed = ({ said, since = "" }: Found, now: number, startTime: string): boolean =>
  said === undefined || since >= startTime || now - Date.parse(startTime) >= silenceMs(said)

const codes = {
  behind: "screen:behind",
  problem: "screen:problem",
  hidden: "screen:hidden",
  silent: "screen:silent",
  closed: "screen:closed",
  "never seen": "screen:never-seen"
} satisfies Record<Exclude<ScreenWord, "closed for the day" | "showing">, string>

/** Codes of what is no problem outside the hours. */
export const awayCodes: ReadonlySet<string> = new Set([
  codes.silent,
  codes.closed,
  codes.hidden,
  codes["never seen"]
])

/** It is an error where visitors see nothing, or something wrong, on an expected screen. */
const problemsOf = (screen: Found, now: number, startTime: string): ReadonlyArray<Problem> => {
  const { id, isExpected, name, said, word } = screen
  const severity = isExpected ? "error" : "warning"
  const { restarts = 0, runs = [] } = said ?? {}
  return [
    ...(word === "showing" || word === "closed for the day"
      ? []
      : wordProblem({ ...screen, word }, now, startTime)),
    ...(runs.length === 0
      ? []
      : [
          {
            code: "screen:duplicate",
            severity,
            subject: id,
            text: `Screen ${name} is ${runs.length} pages or programs with one id: ${runs.map(runText).join("; ")}. Close the others, or give each an id of its own`
          } as const
        ]),
    ...(isExpected && restarts > maxRestarts
      ? [
          {
            code: "screen:restarting",
            severity,
            subject: id,
            text: `Screen ${name} was started again ${restarts} times in the last ten minutes: see the log of its browser or program`
          } as const
        ]
      : [])
  ]
}

const runText = ({ since, visible }: NonNullable<Screen["runs"]>[number]): string =>
  `one since ${since}${visible === false ? ", hidden" : ""}`

/** What the word means. */
const wordProblem = (
  screen: Found & { readonly word: keyof typeof codes },
  now: number,
  startTime: string
): ReadonlyArray<Problem> => {
  const { id, isExpected, name, said, since, word } = screen
  const problem = (severity: Problem["severity"], text: string): ReadonlyArray<Problem> => [
    {
      code: codes[word],
      severity,
      subject: id,
      text: `Screen ${name} ${text}`,
      ...(since === undefined ? {} : { since })
    }
  ]
  const isSince = (millis: number) => since === undefined || now - Date.parse(since) >= millis
  switch (word) {
    case "behind":
      return problem(
        "warning",
        `is behind since ${since}: it still shows version ${said?.versionId}. If it goes on, load its page again`
      )
    case "problem":
      return said?.problem === undefined
        ? []
        : problem(isExpected ? "error" : "warning", `has a problem since ${since}: ${said.problem}`)
    case "hidden":
      return isSince(hiddenMs)
        ? problem(
            isExpected ? "error" : "warning",
            said?.visible === false
              ? "is hidden: close what is in front of its page, or show its window"
              : "is hidden: its page draws nothing any more, load it again"
          )
        : []
    case "silent":
      return isExpected && isMissed(screen, now, startTime)
        ? problem(
            "error",
            `was last heard of at ${since}: see whether it is on, and start its page or program again`
          )
        : []
    case "closed":
      return isExpected && isSince(settlingMs)
        ? problem("error", `was closed at ${since}: start its page or program again`)
        : []
    case "never seen":
      return isSince(settlingMs)
        ? problem(
            "error",
            `was never seen to show anything: start its page or program with the consumerId ${JSON.stringify(id)}, or see what it says there`
          )
        : []
  }
}

const rankOf = (screen: ScreenStatus): number =>
  tones.indexOf(worstTone(screen, "neutral")) + (screen.word === "showing" ? 0 : 0.5)

export const problemRows = (screens: ReadonlyArray<ScreenStatus>): ReadonlyArray<Row> =>
  firstRows(
    screens.flatMap(({ problems }) => problems),
    problemRow
  )

export const rows = (screens: ReadonlyArray<ScreenStatus>): ReadonlyArray<Row> =>
  firstRows(screens, screenRow)

const screenRow = (screen: ScreenStatus): Row =>
  kv(screen.name, screenText(screen), worstTone(screen, screen.word === "showing" ? "ok" : "neutral"))

const screenText = ({ active, said, since, word }: ScreenStatus): string =>
  said === undefined
    ? word
    : word === "closed"
      ? `closed at ${said.closedAt}`
      : word === "silent"
        ? `silent, last heard of at ${since}`
        : `${word}${word === "showing" ? " " : ", on "}${active ? "the active version" : `version ${said.versionId}`}, heard of at ${said.heardAt}`

/** How many show a version, as far as they are heard of. */
export const countOn = (screens: ReadonlyArray<ScreenStatus>, versionId: string): number =>
  screens.filter((screen) => screen.said?.versionId === versionId && !isAway(screen)).length
