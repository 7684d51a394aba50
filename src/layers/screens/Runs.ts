/**
 * The pages and programs that use the name of one consumer: each says which run it is, from one start to its end. Pure.
 *
 * A new run takes the place of the one before: a page was loaded again, or a link led to the next one. Where the one before is heard of again, both go on.
 */
import type { Now } from "../../internal/monotonicMillis.ts"
import type { Said } from "./Consumers.ts"

export interface Run {
  readonly id: string
  readonly said: Said
  /** When it was first heard of, in milliseconds since 1970. */
  readonly since: number
  /** When it was last heard of, by the monotonic clock. */
  readonly takenAt: number
  /** Whether it was heard of after one that began later, or before such a one. */
  readonly isBeside: boolean
}

export interface Runs {
  /** Those that have not closed; the last one was heard of last. */
  readonly heard: ReadonlyArray<Run>
  /** When each began that is not the next page of one that closed, by the monotonic clock: the last hundred. */
  readonly begun: ReadonlyArray<number>
  /** Those that closed last, and when, likewise. */
  readonly closed: ReadonlyArray<{ readonly id: string; readonly at: number }>
}

export const noRuns: Runs = { heard: [], begun: [], closed: [] }

/** How many are distinguished. */
const maxRuns = 8
const maxBegun = 100

/** With what was heard at `takenAt`; a run that says that it closes is no run any more. */
export const hear = (runs: Runs, said: Said, takenAt: number, now: Now): Runs => {
  const { begun, heard } = runs
  const { closing, runId: id } = said
  const known = heard.find((run) => run.id === id)
  const others = heard.filter((run) => run !== known)
  if (id === undefined || closing === true || hasClosed(runs, id, takenAt)) {
    return { ...runs, heard: others }
  }
  const latest = heard.at(-1)
  const lastClosed = runs.closed.at(-1)
  const isNextPage =
    said.navigated === true &&
    lastClosed !== undefined &&
    (latest === undefined || lastClosed.at > latest.takenAt)
  const isBack = known !== undefined && known !== latest
  const since = now.wall - (now.monotonic - takenAt)
  const run: Run = { id, since, isBeside: isBack, ...known, said, takenAt }
  return {
    ...runs,
    heard: [
      ...others.map((other) => (isBack && other === latest ? { ...other, isBeside: true } : other)),
      isBack ? { ...run, isBeside: true } : run
    ].slice(-maxRuns),
    begun: known === undefined && !isNextPage ? [...begun, takenAt].slice(-maxBegun) : begun
  }
}

/** Without one that closes now. */
export const close = (runs: Runs, id: string | undefined, now: Now): Runs =>
  id === undefined
    ? runs
    : {
        ...runs,
        heard: runs.heard.filter((run) => run.id !== id),
        closed: [...runs.closed, { id, at: now.monotonic }].slice(-maxRuns)
      }

/** How long what a run has sent before it closed may be under way, in milliseconds. A page may come back, from the cache of its browser. */
const lateMs = 5000

/** Whether it had closed, or had just done so: what is taken of it then was sent before. Times are those of the monotonic clock. */
export const hasClosed = ({ closed }: Runs, id: string | undefined, takenAt: number): boolean =>
  closed.some((run) => run.id === id && takenAt - run.at < lateMs)

/** Those that go on at once, the oldest first; none where there are no two. */
export const atOnce = (runs: ReadonlyArray<Run>): ReadonlyArray<Run> => {
  const beside = runs.filter(({ isBeside }) => isBeside)
  return beside.length < 2 ? [] : beside.toSorted((one, other) => one.since - other.since)
}

const restartsMs = 10 * 60_000

/** How many began in the last ten minutes, but for the first one that there was. */
export const restarts = ({ begun }: Runs, { monotonic }: Now): number =>
  begun.filter((at, index) => index > 0 && monotonic - at < restartsMs).length
