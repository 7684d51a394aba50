/**
 * The state of a consumer, read from its leases: whether it is present, and when it began to show its version, was hidden, got a
 * problem or closed; and the screens of a content in the slice of the state, which are its consumers.
 */

import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Order from "effect/Order"
import type { Now } from "../../internal/monotonicMillis.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import type { Screen } from "../../services/Slices.ts"
import { type Consumer, type Lease, maxConsumers, VersionStore } from "../../services/VersionStore.ts"
import type { Heard, LeaseContent } from "./LeaseFile.ts"
import * as Runs from "./Runs.ts"

/** When each state began, in milliseconds since 1970. */
interface Past {
  readonly problemSince: number
  readonly shownSince: number
  readonly hiddenSince: number
  readonly closedAt: number
  readonly runs: Runs.Runs
}

export type Known<H extends Heard = Heard> = H & Past

/** How long a lease is fresh, in milliseconds; shorter for a closing consumer. */
export const lifetimeOf = ({ lease }: Heard, lifetime: number): number =>
  Option.match(lease, {
    onNone: () => lifetime,
    onSome: ({ closing, renewMs }) =>
      closing === true ? Math.min(lifetime, closedAfterMs(renewMs)) : lifetime
  })

/**
 * How long a closing consumer keeps its lease, in milliseconds. A consumer that did not close itself, but another page
 * with its id, renews the lease within this time.
 */
export const closedAfterMs = (renewMs = 600_000): number => Math.max(120_000, 2 * renewMs)

export const isOver = (heard: Heard, lifetime: number, { monotonic }: Now): boolean =>
  monotonic - heard.renewedAt > lifetimeOf(heard, lifetime)

/** Whether the consumer renews its lease as often as it promised. */
export const isPresent = (
  content: LeaseContent,
  renewedAt: number,
  lifetime: number,
  { monotonic }: Now
): boolean => monotonic - renewedAt < Math.min(lifetime, silentAfterMs(content))

const isSilent = ({ lease, renewedAt }: Heard, lifetime: number, now: Now): boolean =>
  Option.exists(lease, (content) => !isPresent(content, renewedAt, lifetime, now))

const problemIn = ({ lease }: Heard): string | undefined => Option.getOrUndefined(lease)?.problem

/** Updates what is known with the last lease. A problem that a consumer had before it fell silent does not continue. */
export const learn = <H extends Heard>(
  before: Known | undefined,
  heard: H,
  lifetime: number,
  now: Now
): Known<H> => {
  const problem = problemIn(heard)
  const hasProblemStill =
    before !== undefined && !isSilent(before, lifetime, now) && problemIn(before) === problem
  const content = Option.getOrUndefined(heard.lease)
  const contentBefore =
    before === undefined || isOver(before, lifetime, now) ? undefined : Option.getOrUndefined(before.lease)
  const since = (at: number | undefined, isStill: boolean) =>
    isStill && contentBefore !== undefined && at !== undefined ? at : heard.changedAt
  const runs = before?.runs ?? Runs.noRuns
  return {
    ...heard,
    problemSince: since(before?.problemSince, hasProblemStill),
    shownSince: since(before?.shownSince, contentBefore?.versionId === content?.versionId),
    hiddenSince: since(before?.hiddenSince, contentBefore !== undefined && isHidden(contentBefore)),
    closedAt: since(before?.closedAt, contentBefore?.closing === content?.closing),
    runs: content === undefined ? runs : Runs.hear(runs, content, heard.renewedAt, now)
  }
}

/** The consumer as others see it; `None` if its lease is over, unless it is expected. */
export const consumerOf = (
  consumerId: string,
  known: Known,
  lifetime: number,
  now: Now,
  isExpected = false
): Option.Option<Consumer> =>
  Option.map(known.lease, ({ closing, navigated, problem, runId, ...content }): Consumer => {
    const heardAt = now.wall - (now.monotonic - known.renewedAt)
    const runs = Runs.atOnce(known.runs.heard.filter((run) => now.monotonic - run.renewedAt <= lifetime))
    const restarts = Runs.restarts(known.runs, now)
    return {
      consumerId,
      ...content,
      shownSince: known.shownSince,
      heardAt,
      until: heardAt + lifetimeOf(known, lifetime),
      problem,
      problemSince: problem === undefined ? undefined : known.problemSince,
      hiddenSince: isHidden(content) ? known.hiddenSince : undefined,
      closedAt: closing && known.closedAt,
      runs: runs.length === 0 ? undefined : runs.map((run) => runOf(run, now)),
      restarts: restarts || undefined
    }
  }).pipe(Option.filter(() => isExpected || !isOver(known, lifetime, now)))

const runOf = ({ lease: { visible }, since, renewedAt }: Runs.Run, { monotonic, wall }: Now) => ({
  since,
  heardAt: wall - (monotonic - renewedAt),
  visible
})

/** The lease of a consumer; `None` if it is over. */
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

type Presence = Pick<Screen, "drawing" | "renewMs" | "visible">

const silentMs = 90_000

/**
 * How long after its last report a screen counts as silent, in milliseconds, unless it has an event stream. Never, if
 * it does not say how often it renews its lease.
 */
export const silentAfterMs = ({ renewMs, ...presence }: Presence): number =>
  renewMs !== undefined ? 2 * renewMs : reportsItself(presence) ? silentMs : Number.POSITIVE_INFINITY

/** Whether the screen reports if it is visible or draws. */
export const reportsItself = ({ drawing, visible }: Presence): boolean =>
  visible !== undefined || drawing !== undefined

export const isHidden = ({ drawing, visible }: Presence): boolean => visible === false || drawing === false

/** How long after its last report a screen counts as silent, in milliseconds; at most until its lease ends. */
export const silenceMs = (screen: Screen): number =>
  Math.min(Date.parse(screen.until) - Date.parse(screen.heardAt), silentAfterMs(screen))

/**
 * The screens of a content. Expected screens stay after the end of their lease, as long as the controller runs. `all`
 * gives them as of now, and runs before expired leases are removed; `acknowledged` runs after each ack.
 */
export const makeScreens = Effect.gen(function* () {
  const { consumers } = yield* VersionStore
  const { system } = yield* Effect.flatMap(ControllerState, ({ state }) => state)
  const expected = new Set((system.screens ?? []).map(({ id }) => id))
  const isExpected = ({ consumerId }: Consumer) => expected.has(consumerId)
  const last = new Map<string, Consumer>()
  const remember = (consumer: Consumer): void => {
    if (isExpected(consumer)) last.set(consumer.consumerId, consumer)
  }
  const all = Effect.map(consumers, (fresh) => {
    fresh.forEach(remember)
    const ids = new Set(fresh.map(({ consumerId }) => consumerId))
    const ended = [...last.values()].filter(({ consumerId }) => !ids.has(consumerId)).sort(lastHeardFirst)
    const [others, wanted] = Array.partition([...fresh, ...ended], isExpected)
    return [...wanted, ...others].slice(0, maxConsumers).map(screenOf)
  })
  return { all, acknowledged: (consumer: Consumer) => Effect.sync(() => remember(consumer)) }
})

export type Screens = Effect.Effect.Success<typeof makeScreens>

export const lastHeardFirst = Order.reverse(Order.mapInput(Order.number, ({ heardAt }: Consumer) => heardAt))

const screenOf = ({
  closedAt,
  consumerId,
  hiddenSince,
  problemSince,
  runs,
  ...details
}: Consumer): Screen => ({
  ...details,
  id: consumerId,
  shownSince: iso(details.shownSince),
  heardAt: iso(details.heardAt),
  until: iso(details.until),
  problemSince: isoIfAny(problemSince),
  hiddenSince: isoIfAny(hiddenSince),
  closedAt: isoIfAny(closedAt),
  runs: runs?.map((run) => ({ ...run, since: iso(run.since), heardAt: iso(run.heardAt) }))
})

const iso = (millis: number): string => new Date(millis).toISOString()

const isoIfAny = (millis: number | undefined) => (millis === undefined ? undefined : iso(millis))
