/**
 * Which problems the receiver of alerts knows, and what is to be posted. Pure; times are in milliseconds since 1970.
 */
import * as Array from "effect/Array"
import * as Order from "effect/Order"
import type { Problem } from "../../services/Problem.ts"
import type { StandingProblems } from "./problemChanges.ts"

/** A problem that continues, or whose end is to be posted. */
export interface Alert {
  readonly key: string
  /** As it is now, or was last. */
  readonly problem: Problem
  readonly isOver: boolean
  /** When it was found, became worse than the receiver knows, or was over. */
  readonly changedAt: number
  /** How severe the receiver knows it to be, or may know, as that was tried. */
  readonly known: Problem["severity"] | undefined
  /** Whether it has accepted the last post. */
  readonly isTaken: boolean
}

/** By what tells problems apart. */
export type Alerts = ReadonlyMap<string, Alert>

/** So many of one code that change within this time are one post. */
const groupSize = 3
const groupMs = 60_000

/** With the problems of now. Of one that the receiver does not know, or that is over while it is muted, there is no end to tell. */
export const update = (before: Alerts, standing: StandingProblems, now: number): Alerts => {
  const over = [...before.values()]
    .filter(({ key, known, problem }) => !standing.has(key) && known !== undefined && !isMuted(problem))
    .map((alert) => (alert.isOver ? alert : { ...alert, isOver: true, changedAt: now }))
  const begun = [...standing].map(([key, problem]): Alert => {
    const known = before.get(key)
    const alert = { changedAt: now, known: undefined, isTaken: false, ...known, key, problem, isOver: false }
    const isChanged = known?.isOver === true || (isWorse(alert) && known !== undefined && !isWorse(known))
    return isChanged ? { ...alert, changedAt: now } : alert
  })
  return new Map([...over, ...begun].map((alert) => [alert.key, alert]))
}

const isWorse = ({ known, problem }: Alert): boolean => known === "warning" && problem.severity === "error"

const isMuted = ({ muted }: Problem): boolean => muted !== undefined

const isNews = (alert: Alert): boolean =>
  !isMuted(alert.problem) && (alert.isOver || !alert.isTaken || isWorse(alert))

/**
 * What can be posted now, each list in one post, the ends first. A problem is posted when it has lasted for `after`. Three or more of one
 * code that begin, become worse or end within a minute are one post, when no more can come; fewer are posted one by one.
 */
export const due = (alerts: Alerts, after: number, now: number): ReadonlyArray<ReadonlyArray<Alert>> => {
  const all = [...alerts.values()].toSorted(Order.mapInput(Order.number, ({ changedAt }) => changedAt))
  const [begun, ended] = Array.partition(all.filter(isNews), ({ isOver }) => isOver)
  const kinds = Array.groupBy([...ended, ...begun], ({ isOver, known, problem: { code } }) =>
    [isOver, known === undefined, code].join(" ")
  )
  const goOn = ({ isOver, problem: { code } }: Alert) =>
    isOver
      ? all.filter(
          ({ isOver, known, problem }) =>
            problem.code === code && !isOver && known !== undefined && !isMuted(problem)
        ).length
      : Number.POSITIVE_INFINITY
  return Object.values(kinds).flatMap((kind) => posts(kind, goOn(kind[0]), after, now))
}

/** Posts of one kind, in order; `others` are those that could follow. */
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
  const isLasting = post.every(({ changedAt, known }) => known !== undefined || now - changedAt >= after)
  return isOpen || !isLasting ? [] : [post, ...posts(kind.slice(post.length), others, after, now)]
}

const replaced = (alerts: Alerts, changed: ReadonlyArray<Alert>): Alerts =>
  new Map([...alerts, ...changed.map((alert) => [alert.key, alert] as const)])

/** While they are posted, the receiver may know of them. */
export const posting = (alerts: Alerts, post: ReadonlyArray<Alert>): Alerts =>
  replaced(
    alerts,
    post.map((alert) => ({
      ...alert,
      known: alert.isOver ? alert.known : alert.problem.severity,
      isTaken: false
    }))
  )

/** After they were taken, or refused; they may have changed meanwhile. What is over and told, or was refused, is forgotten. */
export const posted = (before: Alerts, post: ReadonlyArray<Alert>, isTaken: boolean): Alerts => {
  const alerts = replaced(
    before,
    post.flatMap(({ isOver, key, ...told }) =>
      Array.fromNullable(before.get(key)).map((alert) =>
        !isTaken
          ? { ...alert, known: told.known, isTaken: told.isTaken }
          : isOver
            ? { ...alert, known: undefined }
            : { ...alert, isTaken: true }
      )
    )
  )
  return new Map([...alerts].filter(([, { isOver, known }]) => !isOver || known !== undefined))
}
