/**
 * The players that report to this machine, in bounded memory. Pure.
 *
 * Each player is shown with its first run, as long as that reports. A second run counts as a restart, until the first one
 * reports again: then it is another machine with the same id.
 */
import * as Either from "effect/Either"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Struct from "effect/Struct"
import type { Player, PlayerReport } from "../../services/PlayerReport.ts"
import { NoRoom, TooManyRequests } from "../http/errors.ts"

/** How many players there can be. */
export const maxPlayers = 1024

/** How many reports of a run of a player are taken in ten seconds. */
export const maxReports = 20
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

/** How many of something there were, and since when, in milliseconds since 1970. */
interface Window {
  readonly since: number
  readonly count: number
}

/** A player from one start to the next. */
interface Run {
  /** As of its last report. */
  readonly player: Player
  readonly reports: Window
}

interface Entry {
  /** The one that is listed. */
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

const heardAt = ({ player }: Run): number => Date.parse(player.heardAt)

const isFresh =
  (now: number) =>
  (run: Run): boolean =>
    isClose(heardAt(run), now, freshMs)

const recent = (times: ReadonlyArray<number>, now: number): ReadonlyArray<number> =>
  times.filter((time) => isClose(time, now, restartMs)).slice(-maxRestarts)

const none: Window = { since: 0, count: 0 }

const oneMore = ({ count, since }: Window, now: number): Window =>
  isClose(since, now, rateMs) ? { since, count: count + 1 } : { since: now, count: 1 }

/**
 * As the run says it now. A report that is up to a minute older than the one before was overtaken on its way: it says only that the
 * player is there. The clock of a player may be set back further.
 */
const playerOf = ({ address, now, report }: Received, before?: Player): Player => {
  const heardAt = new Date(now).toISOString()
  const sentAt = Date.parse(report.sentAt)
  const age = before === undefined ? 0 : Date.parse(before.sentAt) - sentAt
  return before !== undefined && age > 0 && age < freshMs
    ? { ...before, heardAt }
    : { ...report, heardAt, address, clockOffset: sentAt - now }
}

const entryOf = (run: Run): Entry => ({
  run,
  others: [],
  newRuns: none,
  restarts: [],
  duplicate: Option.none()
})

/** A machine that sends too much, or as another, takes nothing from that one: each run has its own limit. */
const heardAgain = (before: Entry, received: Received): Either.Either<Entry, TooManyRequests> => {
  const { now, report } = received
  const fresh = before.others.filter(isFresh(now))
  const known = [before.run, ...fresh].find(({ player }) => player.runId === report.runId)
  const reports = oneMore(known?.reports ?? none, now)
  const newRuns = known === undefined ? oneMore(before.newRuns, now) : before.newRuns
  if (reports.count > maxReports || newRuns.count > maxReports) {
    return Either.left(
      new TooManyRequests({
        message: `Too many reports: this player sent more than ${maxReports} in ten seconds.`,
        headers: { "Retry-After": "10" }
      })
    )
  }
  const run = { player: playerOf(received, known?.player), reports }
  const others = fresh.filter((other) => other !== known)
  if (known === before.run) {
    return Either.right({ ...before, run, others })
  }
  const isRestart = known === undefined && before.run.player.stoppedBy === undefined
  const restarts = isRestart ? recent([...before.restarts, now], now) : before.restarts
  const goesOn = isClose(heardAt(before.run), now, missedMs)
  if (goesOn && Option.exists(before.duplicate, isFresh(now))) {
    const duplicate = Option.some(run)
    return Either.right({
      ...before,
      others: [...others, run].slice(0, maxRuns),
      newRuns,
      restarts,
      duplicate
    })
  }
  return Either.right({
    run,
    others: [...others, ...[before.run].filter(isFresh(now))].slice(0, maxRuns),
    newRuns,
    restarts,
    duplicate: known !== undefined && goesOn ? Option.some(before.run) : Option.none()
  })
}

/** The one that is not expected and was not heard of for longest. */
const mostDispensable = (registry: Registry, isExpected: IsExpected) =>
  HashMap.reduce(registry, Option.none<readonly [string, Run]>(), (found, { run }, id) =>
    isExpected(id) || Option.exists(found, ([, other]) => heardAt(other) <= heardAt(run))
      ? found
      : Option.some([id, run] as const)
  )

/** A player that is new takes a free place, or that of one that is not expected: if it is not expected itself, only of a silent one. */
const placed = (registry: Registry, run: Run, isExpected: IsExpected): Either.Either<Registry, NoRoom> => {
  const { id } = run.player.node
  if (HashMap.size(registry) < maxPlayers) {
    return Either.right(HashMap.set(registry, id, entryOf(run)))
  }
  const dispensable = Option.filter(
    mostDispensable(registry, isExpected),
    ([, other]) => isExpected(id) || !isFresh(heardAt(run))(other)
  )
  return Option.match(dispensable, {
    onNone: () =>
      Either.left(
        new NoRoom({
          message: `Too many players: ${maxPlayers} report here already. Those among the "players" of the hub always find a place.`
        })
      ),
    onSome: ([other]) => Either.right(HashMap.set(HashMap.remove(registry, other), id, entryOf(run)))
  })
}

/** The registry with one more report, or why it is not taken. */
export const take = (
  registry: Registry,
  received: Received,
  isExpected: IsExpected
): Either.Either<Registry, TooManyRequests | NoRoom> => {
  const { id } = received.report.node
  return Option.match(HashMap.get(registry, id), {
    onNone: () =>
      placed(registry, { player: playerOf(received), reports: oneMore(none, received.now) }, isExpected),
    onSome: (before) => Either.map(heardAgain(before, received), (entry) => HashMap.set(registry, id, entry))
  })
}

/** With players that were written down. A time in the future is one of a clock that was wrong. */
export const restored = (players: ReadonlyArray<Player>, isExpected: IsExpected, now: number): Registry =>
  players.reduce<Registry>((registry, player) => {
    const heardAt = new Date(Math.min(Date.parse(player.heardAt), now)).toISOString()
    const run = { player: { ...player, heardAt }, reports: none }
    return Either.getOrElse(placed(registry, run, isExpected), () => registry)
  }, HashMap.empty())

/**
 * After the time of day was set by so many milliseconds. Restarts are counted anew. A player that stopped is not expected to report:
 * for how long it has been away does not shrink.
 */
export const moved = (registry: Registry, millis: number): Registry =>
  HashMap.map(registry, (entry) => {
    const { player } = entry.run
    if (player.stoppedBy !== undefined && millis > 0) return entry
    const heardAt = new Date(Date.parse(player.heardAt) + millis).toISOString()
    return entryOf({ player: { ...player, heardAt }, reports: none })
  })

/** Those that are listed now, in no order. A player that has not changed is the same object. */
export const playersOf = (registry: Registry, isExpected: IsExpected, now: number): ReadonlyArray<Player> =>
  HashMap.toValues(registry)
    .filter(({ run }) => isExpected(run.player.node.id) || isClose(heardAt(run), now, forgottenMs))
    .map((entry) => listed(entry, now))

const listed = ({ duplicate, restarts, run }: Entry, now: number): Player => {
  const count = recent(restarts, now).length
  const twin = Option.filter(duplicate, isFresh(now))
  return count === 0 && Option.isNone(twin)
    ? run.player
    : {
        ...run.player,
        ...(count === 0 ? {} : { restarts: count }),
        ...Option.match(twin, {
          onNone: () => ({}),
          onSome: ({ player }) => ({ duplicate: Struct.pick(player, "host", "address", "heardAt") })
        })
      }
}
