/**
 * Which problems the receiver of alerts knows, and what is to be posted of those that begin, get worse and end. Pure; times are in milliseconds since 1970.
 */
import * as Array from "effect/Array"
import * as Order from "effect/Order"
import * as Schema from "effect/Schema"
import { Problem } from "../../services/Problem.ts"
import type { Found, ProblemChange } from "../status/standingProblems.ts"

/** A problem that continues, or whose end is to be posted. */
export interface Alert {
  readonly key: string
  /** As it is now, or was last. */
  readonly problem: Problem
  readonly isOver: boolean
  /** When it was found, became worse than the receiver knows, or was over. */
  readonly changedAt: number
  /** How severe the receiver knows it to be, or may know, as that was tried. */
  readonly known: Posted["known"] | undefined
  /** Whether it has accepted the last post. */
  readonly isTaken: boolean
  /** How often it has refused the beginning, the worsening or the end that is to be posted. */
  readonly refused: number
}

/** By what tells problems apart. */
export type Alerts = ReadonlyMap<string, Alert>

/** A problem that a receiver knows of, or may know of: all that a restart needs to post its end. */
export const Posted = Schema.Struct({
  key: Schema.String,
  problem: Problem,
  known: Problem.fields.severity,
  isTaken: Schema.Boolean
})
export type Posted = typeof Posted.Type

/** Problems that were posted, and whose end no receiver has taken yet. The beginning of a problem that is over is not posted again. */
export const postedOf = (alerts: Alerts): ReadonlyArray<Posted> =>
  [...alerts.values()].flatMap(({ isOver, isTaken, key, known, problem }) =>
    known === undefined ? [] : [{ key, problem, known, isTaken: isTaken || isOver }]
  )

/** As if these had just been found again. */
export const restored = (posted: ReadonlyArray<Posted>, now: number): Alerts =>
  new Map(posted.map((one) => [one.key, { ...one, isOver: false, changedAt: now, refused: 0 }]))

/** So many of one code that change within this time are one post. */
const groupSize = 3
const groupMs = 60_000

/** How often a receiver is asked to take what it refuses: for about four minutes. */
export const maxRefused = 12

/** With what has changed, and the problems of now as they are now. */
export const update = (before: Alerts, { changes, standing }: Found, now: number): Alerts => {
  const current = [...before.values()].map((alert) => ({
    ...alert,
    problem: standing.get(alert.key) ?? alert.problem
  }))
  return changes.reduce(
    (alerts, change) => (change._tag === "Begin" ? begun(alerts, change, now) : ended(alerts, change, now)),
    replaced(new Map(), current)
  )
}

type Begin = Extract<ProblemChange, { readonly _tag: "Begin" }>
type End = Extract<ProblemChange, { readonly _tag: "End" }>

/** A problem that was posted before a restart has not begun again. */
const begun = (alerts: Alerts, { isWorse, key, problem }: Begin, now: number): Alerts => {
  const known = alerts.get(key)
  const unknown = { changedAt: now, known: undefined, isTaken: false, refused: 0 }
  const alert = { ...unknown, ...known, key, problem, isOver: false }
  const isNew = known?.isOver === true || isWorseThanKnown(alert)
  return replaced(alerts, [
    {
      ...alert,
      changedAt: isNew ? now : alert.changedAt,
      refused: isNew || isWorse ? 0 : alert.refused
    }
  ])
}

/** Of a problem that the receiver does not know, or that is over while it is muted, there is no end to post. */
const ended = (alerts: Alerts, { key, problem }: End, now: number): Alerts => {
  const alert = alerts.get(key)
  return alert === undefined || alert.known === undefined || isMuted(problem)
    ? new Map([...alerts].filter(([other]) => other !== key))
    : replaced(alerts, [{ ...alert, isOver: true, changedAt: now, refused: 0 }])
}

const isWorseThanKnown = ({ known, problem }: Alert): boolean =>
  known === "warning" && problem.severity === "error"

const isMuted = ({ muted }: Problem): boolean => muted !== undefined

const isNews = (alert: Alert): boolean =>
  !isMuted(alert.problem) && !isGivenUp(alert) && (alert.isOver || !alert.isTaken || isWorseThanKnown(alert))

const isGivenUp = ({ refused }: Alert): boolean => refused >= maxRefused

/** Whether a problem continues that the receiver has refused so often that it is not posted any more. */
export const hasGivenUp = (alerts: Alerts): boolean => [...alerts.values()].some(isGivenUp)

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

/**
 * After they were taken, or refused; they may have changed meanwhile. What is over is forgotten when that was taken, or refused
 * too often, or when its beginning was refused.
 */
export const posted = (before: Alerts, post: ReadonlyArray<Alert>, isTaken: boolean): Alerts => {
  const alerts = replaced(
    before,
    post.flatMap(({ isOver, key, ...told }) =>
      Array.fromNullable(before.get(key)).map((alert) =>
        !isTaken
          ? { ...alert, known: told.known, isTaken: told.isTaken, refused: alert.refused + 1 }
          : isOver
            ? { ...alert, known: undefined }
            : { ...alert, isTaken: true }
      )
    )
  )
  return new Map(
    [...alerts].filter(([, alert]) => !alert.isOver || (alert.known !== undefined && !isGivenUp(alert)))
  )
}
