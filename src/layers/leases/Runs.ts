/**
 * The runs of the pages and programs that use one consumer id: a run lasts from its start to its end. Pure.
 *
 * A new run replaces the one before: the page was reloaded, or a link led to the next page. If the earlier run renews
 * its lease again, both are running.
 */
import type { Now } from "../../internal/monotonicMillis.ts"
import type { LeaseContent } from "./LeaseFile.ts"

export interface Run {
  readonly id: string
  readonly lease: LeaseContent
  /** When it first took its lease, in milliseconds since 1970. */
  readonly since: number
  /** When it last renewed its lease, in monotonic milliseconds. */
  readonly renewedAt: number
  /** Whether another run was renewed in between: both run at the same time. */
  readonly isBeside: boolean
}

export interface Runs {
  /** The runs that have not closed; the one that renewed last is last. */
  readonly heard: ReadonlyArray<Run>
  /** When runs began, in monotonic milliseconds; the last hundred. The next page after a closed one does not count. */
  readonly begun: ReadonlyArray<number>
  /** The runs that closed last, and when, in monotonic milliseconds. */
  readonly closed: ReadonlyArray<{ readonly id: string; readonly at: number }>
}

export const noRuns: Runs = { heard: [], begun: [], closed: [] }

/** How many runs are distinguished. */
const maxRuns = 8
const maxBegun = 100

/** Adds a renewal at `renewedAt`. A run that closes is removed. */
export const hear = (runs: Runs, lease: LeaseContent, renewedAt: number, now: Now): Runs => {
  const { begun, heard } = runs
  const { closing, runId: id } = lease
  const known = heard.find((run) => run.id === id)
  const others = heard.filter((run) => run !== known)
  if (id === undefined || closing === true || hasClosed(runs, id, renewedAt)) {
    return { ...runs, heard: others }
  }
  const latest = heard.at(-1)
  const lastClosed = runs.closed.at(-1)
  const isNextPage =
    lease.navigated === true &&
    lastClosed !== undefined &&
    (latest === undefined || lastClosed.at > latest.renewedAt)
  const isBack = known !== undefined && known !== latest
  const since = now.wall - (now.monotonic - renewedAt)
  const run: Run = { id, since, isBeside: isBack, ...known, lease, renewedAt }
  return {
    ...runs,
    heard: [
      ...others.map((other) => (isBack && other === latest ? { ...other, isBeside: true } : other)),
      isBack ? { ...run, isBeside: true } : run
    ].slice(-maxRuns),
    begun: known === undefined && !isNextPage ? [...begun, renewedAt].slice(-maxBegun) : begun
  }
}

/** Removes a run that closes now. */
export const close = (runs: Runs, id: string | undefined, now: Now): Runs =>
  id === undefined
    ? runs
    : {
        ...runs,
        heard: runs.heard.filter((run) => run.id !== id),
        closed: [...runs.closed, { id, at: now.monotonic }].slice(-maxRuns)
      }

/**
 * How long a request that a run sent before it closed may be on its way, in milliseconds. After that, the run may renew
 * again: a page may come back from the cache of its browser.
 */
const lateMs = 5000

/** Whether this run has closed just before `renewedAt`; then the renewal was sent earlier. Times are monotonic. */
export const hasClosed = ({ closed }: Runs, id: string | undefined, renewedAt: number): boolean =>
  closed.some((run) => run.id === id && renewedAt - run.at < lateMs)

/** The runs that run at the same time, oldest first; empty unless there are two. */
export const atOnce = (runs: ReadonlyArray<Run>): ReadonlyArray<Run> => {
  const beside = runs.filter(({ isBeside }) => isBeside)
  return beside.length < 2 ? [] : beside.toSorted((one, other) => one.since - other.since)
}

const restartsMs = 10 * 60_000

/** How many runs began in the last ten minutes, except the very first run. */
export const restarts = ({ begun }: Runs, { monotonic }: Now): number =>
  begun.filter((at, index) => index > 0 && monotonic - at < restartsMs).length
