/**
 * Knows which problems the receiver of alerts knows, and decides what to post when problems begin, get worse or end.
 * Pure; times are in milliseconds of the monotonic clock, because somebody may set the time of day.
 */
import * as Array from "effect/Array"
import * as Order from "effect/Order"
import * as Schema from "effect/Schema"
import { Problem } from "../../services/Problem.ts"
import type { Found, ProblemChange } from "../status/problems.ts"

/** A problem that continues, or whose end must be posted. */
export interface Alert {
  readonly key: string
  /** As it is now, or as it was last. */
  readonly problem: Problem
  /** ISO 8601, UTC; `undefined` while it continues. */
  readonly endedAt: string | undefined
  /** When it was found, became worse than the receiver knows, or ended. */
  readonly changedAt: number
  /** The severity in the last post that was tried; the receiver may know it. */
  readonly known: Posted["known"] | undefined
  /** Whether the receiver accepted the last post. */
  readonly isTaken: boolean
  /** How often the receiver refused the beginning, the worsening or the end that must be posted. */
  readonly refused: number
}

/** By the keys of the problems. */
export type Alerts = ReadonlyMap<string, Alert>

/** A problem that a receiver knows or may know. After a restart, this is enough to post its end. */
export const Posted = Schema.Struct({
  key: Schema.String,
  problem: Problem,
  known: Problem.fields.severity,
  isTaken: Schema.Boolean
})
export type Posted = typeof Posted.Type

/**
 * Posted problems whose end no receiver has accepted yet. If a problem has ended, its beginning is not posted again.
 */
export const postedOf = (alerts: Alerts): ReadonlyArray<Posted> =>
  [...alerts.values()].flatMap(({ endedAt, isTaken, key, known, problem }) =>
    known === undefined ? [] : [{ key, problem, known, isTaken: isTaken || endedAt !== undefined }]
  )

/** The saved problems, as if they were found just now. */
export const restored = (posted: ReadonlyArray<Posted>, now: number): Alerts =>
  new Map(posted.map((one) => [one.key, { ...one, endedAt: undefined, changedAt: now, refused: 0 }]))

/** This many problems of one code that change within `groupMs` are one post. */
const groupSize = 3
const groupMs = 60_000

/** How often a refused post is tried: for about four minutes. */
export const maxRefused = 12

/** Adds the changes, and updates the problems to their present state. */
export const update = (before: Alerts, { changes, standing }: Found, now: number): Alerts => {
  const current = [...before.values()].map((alert) => ({
    ...alert,
    problem: standing.get(alert.key) ?? alert.problem
  }))
  return changes.reduce(
    (alerts, change) => ("endedAt" in change ? ended(alerts, change, now) : begun(alerts, change, now)),
    replaced(new Map(), current)
  )
}

type Begin = Extract<ProblemChange, { readonly _tag: "Begin" | "Change" }>
type End = Extract<ProblemChange, { readonly _tag: "Over" | "Unwatched" }>

/** A problem that was posted before a restart does not begin again. */
const begun = (alerts: Alerts, { key, problem, ...change }: Begin, now: number): Alerts => {
  const known = alerts.get(key)
  const unknown = { changedAt: now, known: undefined, isTaken: false, refused: 0 }
  const alert = { ...unknown, ...known, key, problem, endedAt: undefined }
  const isNew = known?.endedAt !== undefined || isWorseThanKnown(alert)
  return replaced(alerts, [
    {
      ...alert,
      changedAt: isNew ? now : alert.changedAt,
      refused: isNew || ("isWorse" in change && change.isWorse) ? 0 : alert.refused
    }
  ])
}

/** No end is posted for problems that were never posted, or that end while they are muted. */
const ended = (alerts: Alerts, { endedAt, key, problem }: End, now: number): Alerts => {
  const alert = alerts.get(key)
  return alert === undefined || alert.known === undefined || isMuted(problem)
    ? new Map([...alerts].filter(([other]) => other !== key))
    : replaced(alerts, [{ ...alert, endedAt, changedAt: now, refused: 0 }])
}

const isWorseThanKnown = ({ known, problem }: Alert): boolean =>
  known === "warning" && problem.severity === "error"

export const isOver = ({ endedAt }: Alert): boolean => endedAt !== undefined

const isMuted = ({ muted }: Problem): boolean => muted !== undefined

const isNews = (alert: Alert): boolean =>
  !isMuted(alert.problem) && !isGivenUp(alert) && (isOver(alert) || !alert.isTaken || isWorseThanKnown(alert))

const isGivenUp = ({ refused }: Alert): boolean => refused >= maxRefused

/** Whether a problem continues that the receiver refused so often that it is no longer posted. */
export const hasGivenUp = (alerts: Alerts): boolean => [...alerts.values()].some(isGivenUp)

/**
 * The posts that are due, ends first. A problem is posted when it has lasted for `after`. Three or more problems of one
 * code that begin, get worse or end within a minute are one post, sent when no more can join; fewer are posted one by
 * one.
 */
export const due = (alerts: Alerts, after: number, now: number): ReadonlyArray<ReadonlyArray<Alert>> => {
  const all = [...alerts.values()].toSorted(Order.mapInput(Order.number, ({ changedAt }) => changedAt))
  const [begun, ended] = Array.partition(all.filter(isNews), isOver)
  const kinds = Array.groupBy([...ended, ...begun], (alert) =>
    [isOver(alert), alert.known === undefined, alert.problem.code].join(" ")
  )
  const goOn = (first: Alert) =>
    isOver(first)
      ? all.filter(
          ({ endedAt, known, problem }) =>
            problem.code === first.problem.code &&
            endedAt === undefined &&
            known !== undefined &&
            !isMuted(problem)
        ).length
      : Number.POSITIVE_INFINITY
  return Object.values(kinds).flatMap((kind) => posts(kind, goOn(kind[0]), after, now))
}

/** Posts of one kind, in order. `others` is how many more problems could join. */
const posts = (
  kind: ReadonlyArray<Alert>,
  others: number,
  after: number,
  now: number
): ReadonlyArray<ReadonlyArray<Alert>> => {
  const [first] = kind
  if (first === undefined) {
    return []
  }
  const together = kind.filter(({ changedAt }) => changedAt - first.changedAt <= groupMs)
  const post = together.length < groupSize ? [first] : together
  const isOpen = others > 0 && together.length + others >= groupSize && now - first.changedAt < groupMs
  const isOldEnough = post.every(({ changedAt, known }) => known !== undefined || now - changedAt >= after)
  return isOpen || !isOldEnough ? [] : [post, ...posts(kind.slice(post.length), others, after, now)]
}

const replaced = (alerts: Alerts, changed: ReadonlyArray<Alert>): Alerts =>
  new Map([...alerts, ...changed.map((alert) => [alert.key, alert] as const)])

/** Marks the problems of a post that is being sent: the receiver may know of them from now on. */
export const posting = (alerts: Alerts, post: ReadonlyArray<Alert>): Alerts =>
  replaced(
    alerts,
    post.map((alert) => ({
      ...alert,
      known: isOver(alert) ? alert.known : alert.problem.severity,
      isTaken: false
    }))
  )

/**
 * Marks the problems of a post as accepted or refused. They may have changed meanwhile. Forgets an ended problem when
 * its end was accepted or refused too often, or when its beginning was refused.
 */
export const posted = (before: Alerts, post: ReadonlyArray<Alert>, isTaken: boolean): Alerts => {
  const alerts = replaced(
    before,
    post.flatMap((sent) =>
      Array.fromNullable(before.get(sent.key)).map((alert) =>
        !isTaken
          ? { ...alert, known: sent.known, isTaken: sent.isTaken, refused: alert.refused + 1 }
          : isOver(sent)
            ? { ...alert, known: undefined }
            : { ...alert, isTaken: true }
      )
    )
  )
  return new Map(
    [...alerts].filter(([, alert]) => !isOver(alert) || (alert.known !== undefined && !isGivenUp(alert)))
  )
}
