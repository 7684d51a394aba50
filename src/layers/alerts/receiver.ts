/**
 * The problems that the receiver of alerts knows, and the changes that must be posted to it. Pure; times are in
 * milliseconds of the monotonic clock, because somebody may set the time of day.
 */
import * as Array from "effect/Array"
import * as Order from "effect/Order"
import * as Schema from "effect/Schema"
import type { OwnedProblem } from "../../services/ControllerState.ts"
import { Problem } from "../../services/Problem.ts"
import type { View } from "../../services/View.ts"
import { isNamed, keyOf, maxProblems, notJudged } from "../status/problems.ts"

/** A problem as the receiver knows it, with `unwatched` if it knows that nobody watches the problem any more. */
export const KnownProblem = Schema.Struct({
  key: Schema.String,
  /** The plugin that has found the problem. */
  plugin: Schema.String,
  problem: Problem,
  /** False while a later post may have arrived, or may be lost. */
  isAccepted: Schema.propertySignature(Schema.Boolean).pipe(Schema.fromKey("isTaken"))
})
export type KnownProblem = typeof KnownProblem.Type

/** `over`: the problem was seen to be over. `unwatched`: nobody can say any more whether it continues. */
export type Kind = "begin" | "again" | "worse" | "better" | "unwatched" | "over"

/** A change of a problem that the receiver does not know yet. */
export interface Change {
  readonly kind: Kind
  readonly key: string
  readonly plugin: string
  /** As it is now, or as it was last. */
  readonly problem: Problem
  readonly changedAt: number
  /** How often the receiver has refused posts with this change, and after how many refusals it is given up. */
  readonly refused: number
  readonly limit: number
  /** When and why it was refused last. */
  readonly refusedAt: number
  readonly reason: string
}

export interface Alerts {
  readonly known: ReadonlyMap<string, KnownProblem>
  readonly pending: ReadonlyMap<string, Change>
}

/** After so many refusals, a change is posted alone, and then given up if the receiver accepts others. */
const maxRefused = 3

/** The most changes in one post. */
const maxNamed = 50

/** The most problems that are remembered: those that continue, and as many ends that are not delivered. */
const maxKnown = 2 * maxProblems

const minute = 60_000

/** How long changes are collected. */
const collectMs = minute

/** When a change that was given up is tried again. */
const retryMs = 60 * minute

export const restored = (known: ReadonlyArray<KnownProblem>): Alerts => ({
  known: byKey(known),
  pending: new Map()
})

const byKey = <A extends { readonly key: string }>(all: Iterable<A>): ReadonlyMap<string, A> =>
  new Map(Array.map(Array.fromIterable(all), (one) => [one.key, one]))

/** Compares the problems that the receiver knows with the problems of now. Muted problems stay as they are known. */
export const looked = (
  { known, pending }: Alerts,
  owned: ReadonlyArray<OwnedProblem>,
  { mutes }: Pick<View, "mutes">,
  now: number
): Alerts => {
  const found = byKey(
    owned.flatMap(({ plugin, problem }) =>
      isPosted(problem) ? [{ key: keyOf(problem), plugin, problem }] : []
    )
  )

  const changeOf = (key: string): ReadonlyArray<Change> => {
    const before = known.get(key)
    const is = found.get(key)?.problem
    const { plugin, problem } = found.get(key) ?? before ?? {}
    const isWaiting = is === undefined ? owned.length >= maxProblems : is.unwatched === notJudged
    if (plugin === undefined || problem === undefined || isWaiting) return []
    if (mutes.some(({ name }) => isNamed(problem, name))) return []
    const kind = kindOf(before, is)
    if (kind === undefined) return []
    const last = pending.get(key)
    const isSame = last?.kind === kind && last.problem.severity === problem.severity
    const isLasting = last !== undefined && (last.kind === kind || (isMore(last.kind) && isMore(kind)))
    const changedAt = isLasting ? last.changedAt : now
    return [{ ...(isSame ? last : untried), kind, key, plugin, problem, changedAt }]
  }
  const isForgotten = ({ isAccepted, key, problem }: KnownProblem) =>
    isAccepted && problem.unwatched !== undefined && !found.has(key)
  return {
    known: byKey([...known.values()].filter((one) => !isForgotten(one))),
    pending: byKey([...new Set([...known.keys(), ...found.keys()])].flatMap(changeOf))
  }
}

/** The problems of the alerts themselves are only in the state and the log: they could not be delivered either. */
const isPosted = ({ code, player }: Problem): boolean => player !== undefined || !code.startsWith("alerts:")

const untried = { refused: 0, limit: Number.POSITIVE_INFINITY, refusedAt: 0, reason: "" }

const kindOf = (known: KnownProblem | undefined, problem: Problem | undefined): Kind | undefined => {
  const mayStand = known !== undefined && !(known.isAccepted && known.problem.unwatched !== undefined)
  if (problem === undefined || problem.unwatched !== undefined) {
    return mayStand ? (problem === undefined ? "over" : "unwatched") : undefined
  }
  if (known === undefined) return "begin"
  if (known.problem.unwatched !== undefined) return "again"
  if (known.problem.severity !== problem.severity) return problem.severity === "error" ? "worse" : "better"
  return known.isAccepted ? undefined : "begin"
}

const isMore = (kind: Kind): boolean => kind === "begin" || kind === "again" || kind === "worse"

/** Whether the problem does not stand after this change. */
export const isEnd = ({ kind }: Change): boolean => kind === "over" || kind === "unwatched"

const isGivenUp = ({ limit, refused }: Change): boolean => refused >= limit

/** The changes that the receiver refuses, although it accepts others. */
export const givenUp = ({ pending }: Alerts): ReadonlyArray<Change> => [...pending.values()].filter(isGivenUp)

/** How many problems stand, as far as the receiver knows. */
export const standingCount = ({ known }: Alerts): number =>
  [...known.values()].filter(({ problem }) => problem.unwatched === undefined).length

/**
 * The next post, or nothing. A change must last for `after`, except that a problem gets worse. Then those that will have
 * lasted within a minute are waited for. Changes that were refused too often come last, one by one.
 */
export const due = ({ pending }: Alerts, after: number, now: number): ReadonlyArray<Change> => {
  const dueAt = ({ changedAt, kind }: Change) => (kind === "worse" ? changedAt : changedAt + after)
  const [alone, together] = Array.partition(
    [...pending.values()].toSorted(Order.mapInput(Order.number, dueAt)),
    ({ refused }) => refused < maxRefused
  )
  const closesAt = Math.min(...together.map(dueAt)) + collectMs
  const [later, post] = Array.partition(together, (change) => dueAt(change) <= now)
  if (post.length > 0) {
    return now < closesAt && later.some((change) => dueAt(change) <= closesAt) ? [] : post.slice(0, maxNamed)
  }
  return alone
    .filter((change) => !isGivenUp(change) || now >= change.refusedAt + retryMs)
    .toSorted(Order.mapInput(Order.number, ({ refused }) => refused))
    .slice(0, 1)
}

type Post = ReadonlyArray<Change>

/** Replaces the entries for the problems of the post. The oldest entries are forgotten. */
const withEntries = (before: Alerts, post: Post, entries: ReadonlyArray<KnownProblem>): Alerts => {
  const sent = byKey(post)
  const others = [...before.known.values()].filter(({ key }) => !sent.has(key))
  return { ...before, known: byKey([...others, ...entries].slice(-maxKnown)) }
}

const entryOf = ({ key, plugin, problem }: Change): KnownProblem => ({
  key,
  plugin,
  problem,
  isAccepted: true
})

/** Before a post is sent: it may arrive without a response, or while the controller ends. */
export const posting = (before: Alerts, post: Post): Alerts =>
  withEntries(
    before,
    post,
    post.map((change) => ({ ...entryOf(change), ...before.known.get(change.key), isAccepted: false }))
  )

/** The post surely did not arrive: the receiver knows what it knew `earlier`. */
export const lost = (before: Alerts, earlier: Alerts, post: Post): Alerts =>
  withEntries(
    before,
    post,
    post.flatMap(({ key }) => earlier.known.get(key) ?? [])
  )

/** The receiver has accepted a post. A change that it goes on refusing is given up. */
export const accepted = (before: Alerts, post: Post): Alerts => {
  const sent = byKey(post)
  const others = [...before.pending.values()].filter(({ key }) => !sent.has(key))
  const limited = (change: Change) =>
    change.refused === 0 ? change : { ...change, limit: Math.min(change.limit, change.refused + maxRefused) }
  const known = post.flatMap((change) => (change.kind === "over" ? [] : entryOf(change)))
  return { ...withEntries(before, post, known), pending: byKey(others.map(limited)) }
}

/** The receiver has refused the post. */
export const refused = (before: Alerts, post: Post, reason: string, refusedAt: number): Alerts => ({
  ...before,
  pending: byKey(
    [...before.pending.values()].map((change) =>
      byKey(post).has(change.key) ? { ...change, refused: change.refused + 1, refusedAt, reason } : change
    )
  )
})
