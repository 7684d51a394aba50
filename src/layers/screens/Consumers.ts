/**
 * What is known of a consumer, by what it has said: since when it shows what it shows, is hidden, has a problem, has closed. Pure.
 */
import * as Option from "effect/Option"
import type { Now } from "../../internal/monotonicMillis.ts"
import type { AckDetails, Consumer, Lease } from "../../services/VersionStore.ts"
import { isHidden, silentAfterMs } from "./presence.ts"
import * as Runs from "./Runs.ts"

/** What a consumer says when it takes or renews its lease. */
export interface Said extends Pick<Lease, "versionId">, Omit<AckDetails, "closing"> {
  /** Missing where it is not about to end. */
  readonly closing?: true
}

/** What was heard last of a consumer. */
export interface Heard {
  /** In milliseconds since 1970. */
  readonly changedAt: number
  /** By the monotonic clock, in milliseconds. */
  readonly takenAt: number
  /** Nothing where it has never said anything that is understood. */
  readonly lease: Option.Option<Said>
}

/** When things were first heard of, in milliseconds since 1970. */
interface Past {
  readonly problemSince: number
  readonly shownSince: number
  readonly hiddenSince: number
  readonly closedAt: number
  readonly runs: Runs.Runs
}

export type Known<H extends Heard = Heard> = H & Past

/** How long a lease is fresh, in milliseconds; less for a consumer that says that it closes. */
export const lifetimeOf = ({ lease }: Heard, lifetime: number): number =>
  Option.match(lease, {
    onNone: () => lifetime,
    onSome: ({ closing, renewMs }) =>
      closing === true ? Math.min(lifetime, closedAfterMs(renewMs)) : lifetime
  })

/** How old a lease can be whose consumer says that it closes: a consumer that did not say so itself has renewed it by then. In milliseconds. */
export const closedAfterMs = (renewMs = 600_000): number => Math.max(120_000, 2 * renewMs)

export const isOver = (heard: Heard, lifetime: number, { monotonic }: Now): boolean =>
  monotonic - heard.takenAt > lifetimeOf(heard, lifetime)

/** Whether it was heard of as often as it says. */
export const isPresent = (said: Said, takenAt: number, lifetime: number, { monotonic }: Now): boolean =>
  monotonic - takenAt < Math.min(lifetime, silentAfterMs(said))

const isSilent = ({ lease, takenAt }: Heard, lifetime: number, now: Now): boolean =>
  Option.exists(lease, (said) => !isPresent(said, takenAt, lifetime, now))

const problemIn = ({ lease }: Heard): string | undefined => Option.getOrUndefined(lease)?.problem

/** With what is heard now. What a consumer that is silent could not show is of no account any more. */
export const learn = <H extends Heard>(
  before: Known | undefined,
  heard: H,
  lifetime: number,
  now: Now
): Known<H> => {
  const problem = problemIn(heard)
  const hasProblemStill =
    before !== undefined && !isSilent(before, lifetime, now) && problemIn(before) === problem
  const said = Option.getOrUndefined(heard.lease)
  const saidBefore =
    before === undefined || isOver(before, lifetime, now) ? undefined : Option.getOrUndefined(before.lease)
  const since = (at: number | undefined, isStill: boolean) =>
    isStill && saidBefore !== undefined && at !== undefined ? at : heard.changedAt
  const runs = before?.runs ?? Runs.noRuns
  return {
    ...heard,
    problemSince: since(before?.problemSince, hasProblemStill),
    shownSince: since(before?.shownSince, saidBefore?.versionId === said?.versionId),
    hiddenSince: since(before?.hiddenSince, saidBefore !== undefined && isHidden(saidBefore)),
    closedAt: since(before?.closedAt, saidBefore?.closing === said?.closing),
    runs: said === undefined ? runs : Runs.hear(runs, said, heard.takenAt, now)
  }
}

/** As others see it; nothing where its lease is over. */
export const consumerOf = (
  consumerId: string,
  known: Known,
  lifetime: number,
  now: Now
): Option.Option<Consumer> =>
  Option.map(known.lease, ({ closing, navigated, problem, runId, ...said }): Consumer => {
    const heardAt = now.wall - (now.monotonic - known.takenAt)
    const runs = Runs.atOnce(known.runs.heard.filter((run) => now.monotonic - run.takenAt <= lifetime))
    const restarts = Runs.restarts(known.runs, now)
    return {
      consumerId,
      ...said,
      shownSince: known.shownSince,
      heardAt,
      until: heardAt + lifetimeOf(known, lifetime),
      ...(problem === undefined ? {} : { problem, problemSince: known.problemSince }),
      ...(isHidden(said) ? { hiddenSince: known.hiddenSince } : {}),
      ...(closing === true ? { closedAt: known.closedAt } : {}),
      ...(runs.length === 0 ? {} : { runs: runs.map((run) => runOf(run, now)) }),
      ...(restarts === 0 ? {} : { restarts })
    }
  }).pipe(Option.filter(() => !isOver(known, lifetime, now)))

const runOf = ({ said: { visible }, since, takenAt }: Runs.Run, { monotonic, wall }: Now) => ({
  since,
  heardAt: wall - (monotonic - takenAt),
  ...(visible === undefined ? {} : { visible })
})

/** The lease of a consumer that is not over. */
export const leaseOf = (consumerId: string, known: Known, lifetime: number, now: Now): Option.Option<Lease> =>
  Option.map(
    consumerOf(consumerId, known, lifetime, now),
    ({ closedAt, heardAt, problem, problemSince, until, versionId }): Lease => {
      const lease = {
        consumerId,
        versionId,
        until,
        heardAt,
        isSilent: closedAt !== undefined || isSilent(known, lifetime, now)
      }
      return lease.isSilent || problem === undefined || problemSince === undefined
        ? lease
        : { ...lease, problem, problemSince }
    }
  )
