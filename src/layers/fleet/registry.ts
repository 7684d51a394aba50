/**
 * The players that report to this machine, in bounded memory. Pure.
 *
 * Each player is shown with its first run, as long as that reports. A second run counts as a restart, until the first one
 * reports again: then it is another machine with the same id.
 */
import * as Either from "effect/Either"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import type { PlayerReport } from "../../services/PlayerReport.ts"
import type { Player } from "../../services/Slices.ts"
import { NoRoom, TooManyRequests } from "../http/errors.ts"

/** How many players there can be. */
export const maxPlayers = 1024

/** How many reports of a run of a player are taken in ten seconds. */
export const maxReports = 20

const tooManyReports = new TooManyRequests({
  message: `Too many reports: this player sent more than ${maxReports} in ten seconds.`,
  headers: { "Retry-After": "10" }
})

const tooManyPlayers = new NoRoom({
  message: `Too many players: ${maxPlayers} report here already. Those among the "players" of the hub always find a place.`
})
const rateMs = 10_000

/** How long a run counts as one that is still heard of, in milliseconds. */
const freshMs = 60_000

/** How long the run that is shown may miss its reports before another one takes its place: it reports every ten seconds. */
const missedMs = 15_000

/** How long one that is not expected is listed after it was last heard of, in milliseconds: a day. */
const forgottenMs = 86_400_000

/** How many runs of a player are distinguished beside the one that is shown. */
const maxRuns = 8

/** How long a start is counted, in milliseconds, and how many are. */
const restartMs = 10 * 60_000
const maxRestarts = 100

interface Window {
  /** In milliseconds since 1970. */
  readonly since: number
  readonly reports: number
}

interface Run {
  readonly runId: string
  readonly host: string
  readonly address: string
  /** In milliseconds since 1970. */
  readonly heardAt: number
  readonly window: Window
}

interface Entry {
  readonly player: Player
  /** The run that `player` is of. */
  readonly run: Run
  /** Others that were heard of in the last minute. */
  readonly others: ReadonlyArray<Run>
  /** Runs that began. */
  readonly newRuns: Window
  /** When others began after the first one, in milliseconds since 1970: those of about the last ten minutes. */
  readonly restarts: ReadonlyArray<number>
  /** The one of the others that was heard of last, if it is another machine. */
  readonly duplicate: Option.Option<Run>
}

/** By the ids of their nodes. */
export type Registry = HashMap.HashMap<string, Entry>

export type IsExpected = (id: string) => boolean

/** A report as it comes in. */
export interface Received {
  readonly report: PlayerReport
  /** Where it came from. */
  readonly address: string
  /** In milliseconds since 1970. */
  readonly now: number
}

/** A clock that was set back leaves times in the future behind: these are not close either. */
const isClose = (time: number, now: number, within: number): boolean => Math.abs(now - time) < within

const isRecent =
  (now: number) =>
  (time: number): boolean =>
    isClose(time, now, restartMs)

const isFresh =
  (now: number) =>
  ({ heardAt }: Pick<Run, "heardAt">): boolean =>
    isClose(heardAt, now, freshMs)

const oneMore = ({ reports, since }: Window, now: number): Window =>
  isClose(since, now, rateMs) ? { since, reports: reports + 1 } : { since: now, reports: 1 }

const noReports: Window = { since: 0, reports: 0 }

const playerOf = ({ address, now, report }: Received): Player => ({
  ...report,
  heardAt: new Date(now).toISOString(),
  address,
  clockOffset: Date.parse(report.sentAt) - now
})

const runOf = ({ address, now, report: { host, runId } }: Received, window: Window): Run => ({
  runId,
  host,
  address,
  heardAt: now,
  window
})

const entryOf = (player: Player, window = noReports): Entry => {
  const { address, heardAt, host, runId } = player
  return {
    player,
    run: { runId, host, address, heardAt: Date.parse(heardAt), window },
    others: [],
    newRuns: noReports,
    restarts: [],
    duplicate: Option.none()
  }
}

/** A machine that sends too much, or as another, takes nothing from that one: each run has its own limit. */
const heardAgain = (before: Entry, received: Received): Either.Either<Entry, TooManyRequests> => {
  const { now, report } = received
  const fresh = isFresh(now)
  const others = before.others.filter(fresh)
  const known = [before.run, ...others].find(({ runId }) => runId === report.runId)
  const window = oneMore(known?.window ?? noReports, now)
  const newRuns = known === undefined ? oneMore(before.newRuns, now) : before.newRuns
  if (window.reports > maxReports || newRuns.reports > maxReports) {
    return Either.left(tooManyReports)
  }
  const run = runOf(received, window)
  if (known === before.run) {
    return Either.right({ ...before, player: playerOf(received), run, others, newRuns })
  }
  const restarts =
    known === undefined && before.player.stoppedBy === undefined
      ? [...before.restarts, now].filter(isRecent(now)).slice(-maxRestarts)
      : before.restarts
  const rest = others.filter((other) => other !== known)
  const goesOn = isClose(before.run.heardAt, now, missedMs)
  return Either.right(
    goesOn && Option.exists(before.duplicate, fresh)
      ? {
          ...before,
          others: [...rest, run].slice(0, maxRuns),
          newRuns,
          restarts,
          duplicate: Option.some(run)
        }
      : {
          player: playerOf(received),
          run,
          others: fresh(before.run) ? [...rest, before.run].slice(0, maxRuns) : rest,
          newRuns,
          restarts,
          duplicate: known !== undefined && goesOn ? Option.some(before.run) : Option.none()
        }
  )
}

/** One that is not expected, not heard of for longest. */
const mostDispensable = (registry: Registry, isExpected: IsExpected) =>
  HashMap.reduce(registry, Option.none<readonly [string, Entry]>(), (found, entry, id) =>
    isExpected(id) || Option.exists(found, ([, other]) => other.run.heardAt <= entry.run.heardAt)
      ? found
      : Option.some([id, entry] as const)
  )

/** A player that is new takes a free place, or that of one that is not expected: if it is not expected itself, only of a silent one. */
const placed = (
  registry: Registry,
  id: string,
  entry: Entry,
  isExpected: IsExpected
): Either.Either<Registry, NoRoom> => {
  if (HashMap.size(registry) < maxPlayers) {
    return Either.right(HashMap.set(registry, id, entry))
  }
  return Option.match(
    Option.filter(
      mostDispensable(registry, isExpected),
      ([, other]) => isExpected(id) || !isFresh(entry.run.heardAt)(other.run)
    ),
    {
      onNone: () => Either.left(tooManyPlayers),
      onSome: ([other]) => Either.right(HashMap.set(HashMap.remove(registry, other), id, entry))
    }
  )
}

/** The registry with one more report, or why it is not taken. */
export const take = (
  registry: Registry,
  received: Received,
  isExpected: IsExpected
): Either.Either<Registry, TooManyRequests | NoRoom> => {
  const { now, report } = received
  const { id } = report.node
  return Option.match(HashMap.get(registry, id), {
    onNone: () => placed(registry, id, entryOf(playerOf(received), oneMore(noReports, now)), isExpected),
    onSome: (before) => Either.map(heardAgain(before, received), (entry) => HashMap.set(registry, id, entry))
  })
}

/** With players that were written down. A time in the future is one of a clock that was wrong. */
export const restored = (players: ReadonlyArray<Player>, isExpected: IsExpected, now: number): Registry =>
  players.reduce<Registry>((registry, player) => {
    const heardAt = new Date(Math.min(Date.parse(player.heardAt), now)).toISOString()
    const entry = entryOf({ ...player, heardAt })
    return Either.getOrElse(placed(registry, player.node.id, entry, isExpected), () => registry)
  }, HashMap.empty())

/** Those that are listed now, in no order. A player that has not changed is the same object. */
export const playersOf = (registry: Registry, isExpected: IsExpected, now: number): ReadonlyArray<Player> =>
  HashMap.toValues(registry).flatMap((entry) =>
    isExpected(entry.player.node.id) || isClose(entry.run.heardAt, now, forgottenMs)
      ? [listed(entry, now)]
      : []
  )

const listed = ({ duplicate, player, restarts }: Entry, now: number): Player => {
  const recent = restarts.filter(isRecent(now)).length
  const twin = Option.getOrUndefined(Option.filter(duplicate, isFresh(now)))
  return recent === 0 && twin === undefined
    ? player
    : {
        ...player,
        ...(recent === 0 ? {} : { restarts: recent }),
        ...(twin === undefined
          ? {}
          : {
              duplicate: {
                host: twin.host,
                address: twin.address,
                heardAt: new Date(twin.heardAt).toISOString()
              }
            })
      }
}
