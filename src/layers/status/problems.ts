/**
 * Problems of a controller: which continue, begin, change, end or are no longer watched between two checks, and which
 * somebody has muted for a while. Muted problems are listed, but raise no alert and do not affect the health. Pure.
 */
import * as Order from "effect/Order"
import { movedTime, stepMs } from "../../internal/monotonicMillis.ts"
import type { OwnedProblem, PluginReport } from "../../services/ControllerState.ts"
import type { Mute, Problem } from "../../services/Problem.ts"
import type { GlobalState, Section } from "../../services/StatusSnapshot.ts"
import { errorsFirst, firstRows, kv, muteText } from "./rows.ts"
import { mutesOf as slicesOfMutes } from "./slices.ts"

/** How many problems are listed, the most important first. The counts of the last 256 ended problems are kept too. */
export const maxProblems = 256

/** How many problems are remembered: also those that were listed, and for which the list has no room now. */
const maxRemembered = 2 * maxProblems

/** Identifies a problem as long as it continues, although its text may change. */
export const keyOf = ({ code, player = "", subject, text }: Problem): string =>
  [player, code, subject ?? text].join("\n")

/** Problems that continue, by their keys. */
export type StandingProblems = ReadonlyMap<string, Problem>

/**
 * `Begin`: a problem began, or it is there again after nobody had watched it. `Change`: a warning is an error now, or an
 * error is a warning. `Unwatched`: nobody watches it any more, for the reason `problem.unwatched`. `Over`: it was seen that
 * the problem is over. `endedAt` is in ISO 8601, UTC.
 */
export type ProblemChange = { readonly problem: Problem } & (
  | { readonly _tag: "Begin"; readonly isAgain: boolean }
  | { readonly _tag: "Change"; readonly isWorse: boolean }
  | { readonly _tag: "Unwatched" | "Over"; readonly endedAt: string }
)

/** The present problems, and the changes since the previous check. */
export interface Found {
  readonly standing: StandingProblems
  readonly changes: ReadonlyArray<ProblemChange>
}

/**
 * `problems` are the present ones, as in a view; `now` is in ISO 8601, UTC. A problem that is missing in a full list may
 * continue.
 */
export const compare = (before: StandingProblems, problems: ReadonlyArray<Problem>, now: string): Found => {
  const standing = new Map(problems.map((problem) => [keyOf(problem), problem]))
  const changed = [...standing].flatMap(([key, problem]) => changeOf(before.get(key), problem, now) ?? [])
  const missing = [...before].filter(([key]) => !standing.has(key))
  if (standing.size >= maxProblems) {
    return { standing: new Map([...standing, ...missing].slice(0, maxRemembered)), changes: changed }
  }
  const over = missing.map(([, problem]): ProblemChange => ({ _tag: "Over", problem, endedAt: now }))
  return { standing, changes: [...over, ...changed] }
}

const changeOf = (before: Problem | undefined, problem: Problem, now: string): ProblemChange | undefined => {
  const wasWatched = before !== undefined && before.unwatched === undefined
  if (problem.unwatched !== undefined) {
    return wasWatched ? { _tag: "Unwatched", problem, endedAt: now } : undefined
  }
  if (!wasWatched) return { _tag: "Begin", problem, isAgain: before !== undefined }
  const isWorse = problem.severity === "error"
  return before.severity === problem.severity ? undefined : { _tag: "Change", problem, isWorse }
}

/** A problem as in the state. */
export interface Standing extends Problem {
  readonly since: string
  readonly count: number
}

/** A problem, and the plugin that has found it. */
export interface Owned<P extends Problem = Problem> extends OwnedProblem {
  readonly problem: P
  /** It was recalled after a restart, and its plugin has not judged it since. */
  readonly isEarlier?: boolean | undefined
  /** When it began, if it was recalled. After a restart, its plugin may know only a later time. */
  readonly firstSince?: string | undefined
}

/** By key: the problems that continue, and how often each ended problem has begun. */
export interface Remembered {
  readonly standing: ReadonlyMap<string, Owned<Standing>>
  readonly over: ReadonlyMap<string, number>
  /** By plugin: the last report, and since when none can be made of its slice. */
  readonly reports: ReadonlyMap<string, { readonly report: PluginReport; readonly failingSince?: number }>
  /** By plugin: when its live fields were first known, in milliseconds since the start of the controller. */
  readonly knownSince: ReadonlyMap<string, number>
  /** When the controller started, by the time of day of the last view, in milliseconds since 1970. */
  readonly startedAt?: number
  /** The problems from before the restart, once they were recalled. */
  readonly earlier?: ReadonlyArray<OwnedProblem> | undefined
}

export const nothingRemembered: Remembered = {
  standing: new Map(),
  over: new Map(),
  reports: new Map(),
  knownSince: new Map()
}

/** Adds the problems from before the restart, once. */
export const recall = (
  before: Remembered,
  earlier: ReadonlyArray<OwnedProblem> | undefined,
  now: string
): Remembered => {
  if (earlier === undefined || before.earlier !== undefined) return before
  const recalled = earlier.map(({ plugin, problem }): [string, Owned<Standing>] => [
    keyOf(problem),
    {
      plugin,
      problem: { ...problem, since: problem.since ?? now, count: 1 },
      isEarlier: true,
      firstSince: problem.since
    }
  ])
  return { ...before, earlier, standing: new Map([...recalled, ...before.standing]) }
}

/** Moves the times since the start if somebody has set the clock, so that the start is another time now. */
export const moved = (before: Remembered, startedAt: number): Remembered => {
  const { standing, startedAt: last = startedAt } = before
  const move = (owned: Owned<Standing>) =>
    Date.parse(owned.problem.since) < last - stepMs
      ? owned
      : { ...owned, problem: { ...owned.problem, since: movedTime(owned.problem.since, startedAt - last) } }
  return Math.abs(startedAt - last) <= stepMs
    ? { ...before, startedAt: last }
    : { ...before, startedAt, standing: new Map([...standing].map(([key, owned]) => [key, move(owned)])) }
}

/** How long a problem from before the restart waits until its plugin judges it, in milliseconds. */
const judgeMs = 10 * 60_000

/** Why a problem from before the restart is not watched at first. Later, the reason is that of its plugin. */
export const notJudged = "not judged since the restart"

/** Reasons after which a problem is not recalled. */
const gone: ReadonlySet<string | undefined> = new Set(["forgotten", "not configured", "stopped"])

/** Whether nobody is expected to judge the problem again. */
export const isGone = ({ unwatched }: Problem): boolean => gone.has(unwatched)

/**
 * Why a plugin no longer looks for its problem, or `undefined` if the plugin looked. `reports` are the reports of all
 * plugins, `uptimeMs` is the time since the start of the controller.
 */
export const unwatchedBy = (
  reports: ReadonlyArray<readonly [plugin: string, report: PluginReport]>,
  uptimeMs: number
) => {
  const byName = new Map(reports)
  return ({ isEarlier = false, plugin, problem }: Owned): string | undefined => {
    const stopped: PluginReport = { unwatched: () => (isEarlier ? "not configured" : "stopped") }
    const reason = (byName.get(plugin) ?? stopped).unwatched?.(problem)
    return reason !== undefined && isEarlier && uptimeMs < judgeMs ? notJudged : reason
  }
}

/** The first of each key, up to the maximum. */
const firstOf = (all: ReadonlyArray<Owned>): ReadonlyMap<string, Owned> => {
  const first = new Map<string, Owned>()
  for (const owned of all) {
    const key = keyOf(owned.problem)
    if (!first.has(key) && first.size < maxProblems) first.set(key, owned)
  }
  return first
}

/**
 * Adds the time when each problem began, and how often it began. A problem that is missing, and of which `unwatched`
 * gives a reason, stays with this reason, behind the others. Errors come first. If several have the same key, the first is kept.
 */
export const remember = (
  before: Remembered,
  found: ReadonlyArray<Owned>,
  now: string,
  unwatched: (missing: Owned) => string | undefined = () => undefined
): { readonly problems: ReadonlyArray<Standing>; readonly remembered: Remembered } => {
  const present = new Map(
    [...firstOf(found)].map(([key, { plugin, problem }]) => {
      const { firstSince, problem: known } = before.standing.get(key) ?? {}
      const count = known?.count ?? (before.over.get(key) ?? 0) + 1
      const stated = problem.since ?? known?.since ?? now
      const since = firstSince !== undefined && firstSince < stated ? firstSince : stated
      return [key, { plugin, problem: { ...problem, since, count }, firstSince }] as const
    })
  )
  /** Known problems that continue, and for which the list has no room. */
  const left = new Map(
    found.flatMap(({ problem }) => {
      const key = keyOf(problem)
      const known = present.has(key) ? undefined : before.standing.get(key)
      return known === undefined ? [] : [[key, known] as const]
    })
  )
  const unseen = [...before.standing].flatMap(([key, missing]) => {
    const reason = present.has(key) || left.has(key) ? undefined : unwatched(missing)
    return reason === undefined
      ? []
      : [[key, { ...missing, problem: { ...missing.problem, unwatched: reason } }] as const]
  })
  const listed = [...present, ...unseen].slice(0, maxProblems)
  const standing = new Map([...listed, ...left].slice(0, maxRemembered))
  const ended = [...before.standing].flatMap(([key, { problem }]) =>
    standing.has(key) ? [] : [[key, problem.count] as const]
  )
  const over = [...before.over].filter(([key]) => !standing.has(key))
  return {
    problems: errorsFirst(listed.map(([, { problem }]) => problem)),
    remembered: { ...before, standing, over: new Map([...over, ...ended].slice(-maxProblems)) }
  }
}

type State = Pick<GlobalState, "plugins">

/** The mutes that have not ended; the one that ends last comes first. */
export const mutesOf = (state: State, now: number): ReadonlyArray<Mute> =>
  slicesOfMutes(state)
    .flatMap(([, { mutes }]) => mutes.filter(({ until }) => now < Date.parse(until)))
    .toSorted(Order.reverse(Order.mapInput(Order.string, ({ until }) => until)))

/**
 * Whether the name means this problem: its code, its subject, its player or a player behind that one, or all parts as
 * `PLAYER CODE SUBJECT`.
 */
export const isNamed = ({ code, player, subject }: Problem, name: string): boolean =>
  name === code ||
  name === subject ||
  name === [player, code, subject].filter((part) => part !== undefined).join(" ") ||
  name === player ||
  player?.startsWith(`${name}/`) === true

/** Marks the muted problems, and puts them last. A mark that a problem brings itself is removed. */
export const withMutes = (state: State, now: number) => {
  const mutes = mutesOf(state, now)
  return (problems: ReadonlyArray<Problem>): ReadonlyArray<Problem> =>
    errorsFirst(
      problems.map(({ muted: _, ...problem }) => {
        const muted = mutes.find(({ name }) => isNamed(problem, name))
        return muted === undefined ? problem : { ...problem, muted }
      })
    )
}

/** Empty if nothing is muted. */
export const muteSections = (state: State, now: number): ReadonlyArray<Section> => {
  const mutes = mutesOf(state, now)
  return mutes.length === 0
    ? []
    : [
        {
          name: "mutes",
          order: 39,
          title: "Muted",
          rows: firstRows(mutes, (mute) => kv(mute.name, muteText(mute), "neutral"))
        }
      ]
}
