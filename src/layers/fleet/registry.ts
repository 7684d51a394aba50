/**
 * The players that report to this machine, in bounded memory. Pure.
 *
 * A player is listed by its first run, as long as this run reports. A second run counts as a restart. If the first run
 * reports again, the second one is another machine with the same id.
 */
import * as Either from "effect/Either"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Struct from "effect/Struct"
import type { Player, PlayerReport } from "../../services/PlayerReport.ts"
import { NoRoom, TooManyRequests } from "../http/errors.ts"

/** How many players there can be. */
export const maxPlayers = 1024

/** How many reports of a run are accepted in ten seconds. */
export const maxReports = 20
const rateMs = 10_000

/** How long a run counts as present after its last report, in milliseconds. */
const freshMs = 60_000

/**
 * How long the listed run may miss its reports before another run replaces it, in milliseconds. A run reports every ten
 * seconds.
 */
const missedMs = 15_000

/** How long a player that is not expected stays in the list after its last report: a day, in milliseconds. */
const forgottenMs = 86_400_000

/** How many other runs of a player are distinguished besides the listed one. */
const maxRuns = 8

/** How long a start counts as a restart, in milliseconds, and the highest count. */
const restartMs = 10 * 60_000
const maxRestarts = 100

/** A count, and when it began, in milliseconds since 1970. */
interface Window {
  readonly since: number
  readonly count: number
}

/** A player from one start to the next. */
interface Run {
  /** As in its last report. */
  readonly player: Player
  readonly reports: Window
}

interface Entry {
  /** The listed run. */
  readonly run: Run
  /** Other runs that reported in the last minute. */
  readonly others: ReadonlyArray<Run>
  /** New runs. */
  readonly newRuns: Window
  /** When other runs began, in milliseconds since 1970; about the last ten minutes. */
  readonly restarts: ReadonlyArray<number>
  /** The other run that reported last, if it is another machine. */
  readonly duplicate: Option.Option<Run>
}

/** The players, by the ids of their nodes. */
export type Registry = HashMap.HashMap<string, Entry>

export type IsExpected = (id: string) => boolean

/** A report with its sender and time. */
export interface Received {
  readonly report: PlayerReport
  /** The address of the sender. */
  readonly address: string
  /** In milliseconds since 1970. */
  readonly now: number
}

/** After a clock was set back, times may be in the future; these are not close either. */
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
 * The player as of this report. If a later report of the run overtook it on its way, only its arrival counts. Without
 * numbers, this is a report that is up to a minute older than the last one: the clock of a player may be set back further.
 */
const playerOf = ({ address, now, report }: Received, before?: Player): Player => {
  const heardAt = new Date(now).toISOString()
  const sentAt = Date.parse(report.sentAt)
  return before !== undefined && isOvertaken(report, before)
    ? { ...before, heardAt }
    : { ...report, heardAt, address, clockOffset: sentAt - now }
}

const isOvertaken = (report: PlayerReport, last: Player): boolean => {
  if (report.number !== undefined && last.number !== undefined) return report.number < last.number
  const age = Date.parse(last.sentAt) - Date.parse(report.sentAt)
  return age > 0 && age < freshMs
}

const entryOf = (run: Run): Entry => ({
  run,
  others: [],
  newRuns: none,
  restarts: [],
  duplicate: Option.none()
})

/** The limit is per run, so that a flood under a player's id cannot block that player. */
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

/** The unexpected player that has been silent for longest. */
const mostDispensable = (registry: Registry, isExpected: IsExpected) =>
  HashMap.reduce(registry, Option.none<readonly [string, Run]>(), (found, { run }, id) =>
    isExpected(id) || Option.exists(found, ([, other]) => heardAt(other) <= heardAt(run))
      ? found
      : Option.some([id, run] as const)
  )

/** A new player gets a free place, or replaces an unexpected one; an unexpected player replaces only a silent one. */
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
          message: `Too many players: ${maxPlayers} report here already. The hub always has room for the players in its "players".`
        })
      ),
    onSome: ([other]) => Either.right(HashMap.set(HashMap.remove(registry, other), id, entryOf(run)))
  })
}

/** Adds a report to the registry, or fails if the report is refused. */
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

/** The registry from saved players. A time in the future comes from a wrong clock, and becomes `now`. */
export const restored = (players: ReadonlyArray<Player>, isExpected: IsExpected, now: number): Registry =>
  players.reduce<Registry>((registry, player) => {
    const heardAt = new Date(Math.min(Date.parse(player.heardAt), now)).toISOString()
    const run = { player: { ...player, heardAt }, reports: none }
    return Either.getOrElse(placed(registry, run, isExpected), () => registry)
  }, HashMap.empty())

/**
 * Moves the times after the time of day was set by `millis`. The count of restarts begins again. The absence of a
 * stopped player does not get shorter.
 */
export const moved = (registry: Registry, millis: number): Registry =>
  HashMap.map(registry, (entry) => {
    const { player } = entry.run
    if (player.stoppedBy !== undefined && millis > 0) return entry
    const heardAt = new Date(Date.parse(player.heardAt) + millis).toISOString()
    return entryOf({ player: { ...player, heardAt }, reports: none })
  })

/** The listed players, in no order. An unchanged player is the same object as before. */
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
        restarts: count || undefined,
        duplicate: Option.getOrUndefined(
          Option.map(twin, ({ player }) => Struct.pick(player, "host", "address", "heardAt"))
        )
      }
}
