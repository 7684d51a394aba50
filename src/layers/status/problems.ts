/**
 * Problems of a controller: which continue, begin, get worse or end between two checks, and which somebody has muted for a
 * while. Muted problems are listed, but raise no alert and do not affect the health. Pure.
 */
import * as Order from "effect/Order"
import type { Mute, Problem } from "../../services/Problem.ts"
import type { GlobalState, Section } from "../../services/StatusSnapshot.ts"
import { errorsFirst, firstRows, kv, muteText } from "./rows.ts"
import { mutesOf as slicesOfMutes } from "./slices.ts"

/** How many problems are kept, the most important first. The counts of the last 256 ended problems are kept too. */
export const maxProblems = 256

/** Identifies a problem as long as it continues, although its text may change. */
export const keyOf = ({ code, player = "", subject, text }: Problem): string =>
  [player, code, subject ?? text].join("\n")

/** Problems that continue, by their keys. */
export type StandingProblems<P extends Problem = Problem> = ReadonlyMap<string, P>

export type ProblemChange =
  /** A problem began, or became worse: a warning is an error now. */
  | { readonly _tag: "Begin"; readonly key: string; readonly problem: Problem; readonly isWorse: boolean }
  /** A problem ended. `endedAt` is in ISO 8601, UTC. */
  | { readonly _tag: "End"; readonly key: string; readonly problem: Problem; readonly endedAt: string }

/** The present problems, and the changes since the previous check. */
export interface Found {
  readonly standing: StandingProblems
  readonly changes: ReadonlyArray<ProblemChange>
}

/** The first problem of each key, up to the maximum. */
const standingOf = (problems: ReadonlyArray<Problem>): StandingProblems => {
  const standing = new Map<string, Problem>()
  for (const problem of problems) {
    const key = keyOf(problem)
    if (!standing.has(key) && standing.size < maxProblems) {
      standing.set(key, problem)
    }
  }
  return standing
}

/**
 * `problems` are the present ones, the most important first; `now` is in ISO 8601, UTC. If several have the same key,
 * the first is kept.
 */
export const compare = (before: StandingProblems, problems: ReadonlyArray<Problem>, now: string): Found => {
  const standing = standingOf(problems)
  const begun = [...standing].flatMap(([key, problem]): ReadonlyArray<ProblemChange> => {
    const known = before.get(key)
    const isWorse = known?.severity === "warning" && problem.severity === "error"
    return known === undefined || isWorse ? [{ _tag: "Begin", key, problem, isWorse }] : []
  })
  const ended = [...before].flatMap(
    ([key, problem]): ReadonlyArray<ProblemChange> =>
      standing.has(key) ? [] : [{ _tag: "End", key, problem, endedAt: now }]
  )
  return { standing, changes: [...ended, ...begun] }
}

/** A problem as in the state. */
export interface Standing extends Problem {
  readonly since: string
  readonly count: number
}

/** By key: the problems that continue, and how often each ended problem has begun. */
export interface Remembered {
  readonly standing: StandingProblems<Standing>
  readonly over: ReadonlyMap<string, number>
}

export const nothingRemembered: Remembered = { standing: new Map(), over: new Map() }

/** Adds the time when each problem began, and how often it began. Errors come first. Otherwise as `compare`. */
export const remember = (
  before: Remembered,
  problems: ReadonlyArray<Problem>,
  now: string
): { readonly problems: ReadonlyArray<Standing>; readonly remembered: Remembered } => {
  const standing = new Map(
    [...standingOf(problems)].map(([key, problem]) => {
      const known = before.standing.get(key)
      const count = known?.count ?? (before.over.get(key) ?? 0) + 1
      return [key, { ...problem, since: problem.since ?? known?.since ?? now, count }] as const
    })
  )
  const ended = [...before.standing].flatMap(([key, { count }]) =>
    standing.has(key) ? [] : [[key, count] as const]
  )
  const over = [...before.over].filter(([key]) => !standing.has(key))
  return {
    problems: errorsFirst([...standing.values()]),
    remembered: { standing, over: new Map([...over, ...ended].slice(-maxProblems)) }
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
