/**
 * The problems that the receiver of alerts knows, and the changes that must be posted to it. Pure; times are in
 * milliseconds of the monotonic clock, because somebody may set the time of day.
 */
import * as Array from "effect/Array"
import * as Order from "effect/Order"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { OwnedProblem } from "../../services/ControllerState.ts"
import { type Mute, Problem } from "../../services/Problem.ts"
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
export interface Change extends OwnedProblem {
  readonly kind: Kind
  readonly key: string
  readonly changedAt: number
  /** How often the receiver has refused posts with this change, and after how many refusals it is given up. */
  readonly refused: number
  readonly limit: number
  /** When and why it was refused last. */
  readonly refusedAt: number
  readonly reason: string
}

type ByKey<A> = ReadonlyMap<string, A>

export interface Alerts {
  readonly known: ByKey<KnownProblem>
  readonly pending: ByKey<Change>
}

/** After so many refusals, a change is posted alone, and then given up if the receiver accepts others. */
const maxRefused = 3

/** The most changes in one post. */
const maxNamed = 50

/** The most problems that are remembered: those that continue, and as many ends that are not delivered. */
const maxKnown = 2 * maxProblems

/** How long changes are collected. */
const collectMs = 60_000

/** When a change that was given up is tried again. */
const retryMs = 60 * 60_000

export const restored = (known: ReadonlyArray<KnownProblem>): Alerts => ({
  known: byKey(known),
  pending: new Map()
})

/** The last of each key. */
const byKey = <A extends { readonly key: string }>(all: ReadonlyArray<A>): ByKey<A> =>
  new Map(all.map((one) => [one.key, one]))

/** Compares the problems that the receiver knows with the problems of now. Muted problems stay as they are known. */
export const looked = (
  { known, pending }: Alerts,
  owned: ReadonlyArray<OwnedProblem>,
  mutes: ReadonlyArray<Mute>,
  now: number
): Alerts => {
  const posted = owned.filter(({ problem }) => isPosted(problem))
  const found = byKey(posted.map((one) => ({ ...one, key: keyOf(one.problem) })))
  const all = new Map<string, OwnedProblem>([...known, ...found])
  const changes = [...all].flatMap(([key, { plugin, problem }]): ReadonlyArray<Change> => {
    const is = found.get(key)?.problem
    const isWaiting = is === undefined ? owned.length >= maxProblems : is.unwatched === notJudged
    const kind = kindOf(known.get(key), is)
    if (kind === undefined || isWaiting || mutes.some(({ name }) => isNamed(problem, name))) return []
    const last = pending.get(key) ?? { ...untried, kind, problem, changedAt: now }
    const isSame = last.kind === kind && last.problem.severity === problem.severity
    const isLasting = last.kind === kind || (isMore(last.kind) && isMore(kind))
    const changedAt = isLasting ? last.changedAt : now
    return [{ ...(isSame ? last : untried), kind, key, plugin, problem, changedAt }]
  })
  const isRemembered = ({ isAccepted, key, problem }: KnownProblem) =>
    !isAccepted || problem.unwatched === undefined || found.has(key)
  return { known: byKey([...known.values()].filter(isRemembered)), pending: byKey(changes) }
}

/** The problems of the alerts themselves are only in the state and the log: they could not be delivered either. */
const isPosted = ({ code, player }: Problem): boolean => player !== undefined || !code.startsWith("alerts:")

const untried = { refused: 0, limit: Number.POSITIVE_INFINITY, refusedAt: 0, reason: "" }

const kindOf = (known: KnownProblem | undefined, problem: Problem | undefined): Kind | undefined => {
  const mayStand = known !== undefined && !(known.isAccepted && known.problem.unwatched !== undefined)
  if (problem === undefined) return mayStand ? "over" : undefined
  if (problem.unwatched !== undefined) return mayStand ? "unwatched" : undefined
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
export const due = ({ pending }: Alerts, after: number, now: number): Post => {
  const dueAt = ({ changedAt, kind }: Change) => (kind === "worse" ? changedAt : changedAt + after)
  const [alone, together] = Array.partition(pending.values(), ({ refused }) => refused < maxRefused)
  const [later, post] = Array.partition(together, (change) => dueAt(change) <= now)
  const closesAt = Math.min(...post.map(dueAt)) + collectMs
  if (post.length > 0) {
    return now < closesAt && later.some((change) => dueAt(change) <= closesAt) ? [] : post.slice(0, maxNamed)
  }
  const tried = alone.filter((change) => !isGivenUp(change) || now >= change.refusedAt + retryMs)
  return tried.toSorted(Order.mapInput(Order.number, ({ refused }) => refused)).slice(0, 1)
}

type Post = ReadonlyArray<Change>

/** Replaces what the receiver knows of the problems of the post. The oldest entries are forgotten. */
const withKnown = (
  known: Alerts["known"],
  post: Post,
  entryOf: (change: Change) => ReadonlyArray<KnownProblem>
) => {
  const sent = byKey(post)
  const others = [...known.values()].filter(({ key }) => !sent.has(key))
  return byKey([...others, ...post.flatMap(entryOf)].slice(-maxKnown))
}

/** Before a post is sent: it may arrive without a response, or while the controller ends. */
export const posting = ({ known, pending }: Alerts, post: Post): Alerts => ({
  known: withKnown(known, post, ({ key, plugin, problem }) => [
    { key, plugin, problem, ...known.get(key), isAccepted: false }
  ]),
  pending
})

/** The post surely did not arrive: the receiver knows what it knew `earlier`. */
export const lost = ({ known, pending }: Alerts, earlier: Alerts, post: Post): Alerts => ({
  known: withKnown(known, post, ({ key }) => [earlier.known.get(key)].filter(Predicate.isNotUndefined)),
  pending
})

/** The receiver has accepted a post. A change that it goes on refusing is given up. */
export const accepted = ({ known, pending }: Alerts, post: Post): Alerts => {
  const sent = byKey(post)
  const limitOf = ({ limit, refused }: Change) =>
    refused === 0 ? limit : Math.min(limit, refused + maxRefused)
  const others = [...pending.values()].filter(({ key }) => !sent.has(key))
  return {
    known: withKnown(known, post, ({ key, kind, plugin, problem }) =>
      kind === "over" ? [] : [{ key, plugin, problem, isAccepted: true }]
    ),
    pending: byKey(others.map((change) => ({ ...change, limit: limitOf(change) })))
  }
}

/** The receiver has refused the post. */
export const refused = (
  { known, pending }: Alerts,
  post: Post,
  reason: string,
  refusedAt: number
): Alerts => {
  const sent = byKey(post)
  const changes = [...pending.values()].map((change) =>
    sent.has(change.key) ? { ...change, refused: change.refused + 1, refusedAt, reason } : change
  )
  return { known, pending: byKey(changes) }
}
