/**
 * Leases of consumers on versions: how old they are, and which lease files are removed.
 *
 * Once its file was seen, a lease ages by the monotonic clock, so that a clock that is set forward does not end it. A
 * problem of a silent consumer is dropped. Files of expired leases are removed; other files in the folder stay. Memory
 * has one small entry for each file. Commands add at most `maxConsumers` leases, and the next consumer is refused.
 */

import { join } from "node:path"
import { isDeepStrictEqual } from "node:util"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Array from "effect/Array"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import { constTrue } from "effect/Function"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { DownloadsFolder, namesIn } from "../../files/DownloadsFolder.ts"
import { isPlainFileName } from "../../files/fileName.ts"
import { isUnwritable, retryHeldOpen } from "../../files/systemError.ts"
import { endWithin, singleFlight } from "../../internal/background.ts"
import { makeSteadyNow, type Now, now as readNow } from "../../internal/monotonicMillis.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import {
  type Consumer,
  type Lease,
  maxConsumers,
  TooManyLeases,
  type VersionStoreError
} from "../../services/VersionStore.ts"
import * as Consumers from "./Consumers.ts"
import * as LeaseFile from "./LeaseFile.ts"
import * as Runs from "./Runs.ts"

const extension = ".json"

export class Leases extends Context.Tag("vitrine/Leases")<
  Leases,
  {
    /** All fresh leases. Other files are ignored. Concurrent calls share one look at the folder. */
    readonly fresh: Effect.Effect<ReadonlyArray<Lease>, VersionStoreError>

    /** The consumers, as `VersionStore.consumers`; of the expected screens, also those whose lease is over. */
    readonly consumers: Effect.Effect<ReadonlyArray<Consumer>>

    /** Removes the files of expired leases, and gives the fresh leases. */
    readonly sweep: Effect.Effect<ReadonlyArray<Lease>, VersionStoreError>

    /**
     * Renews a lease without the disk, and gives the consumer. `None` if the lease is not the same, or its file was not
     * written for a minute: then it has to be taken.
     */
    readonly renew: (
      consumerId: string,
      lease: LeaseFile.WrittenLease
    ) => Effect.Effect<Option.Option<Consumer>>

    /**
     * Takes or renews a lease, and gives the consumer. With `closing`, takes no lease, and lets an existing lease end
     * soon.
     */
    readonly take: (
      consumerId: string,
      lease: LeaseFile.WrittenLease
    ) => Effect.Effect<Option.Option<Consumer>, VersionStoreError | TooManyLeases>
  }
>() {}

/**
 * `duration` is how long a lease is fresh without renewal. The files of screens that the controller expects stay after
 * the end of their leases: after a restart, it is known when such a screen reported last.
 */
export const layer = (duration: Duration.DurationInput) =>
  Layer.scoped(Leases, make(Duration.toMillis(duration)))

/** The leases in memory, by consumer. */
class Known extends Context.Tag("vitrine/Leases/Known")<
  Known,
  {
    readonly leases: Map<string, Consumers.Known<LeaseFile.LeaseFile>>
    /** How long a lease is fresh, in milliseconds. */
    readonly lifetime: number
    /** The ids of the screens that the controller expects. */
    readonly expected: ReadonlySet<string>
    /** At the same distance of the clocks each time: an unchanged lease has the same times. */
    readonly steadyNow: Effect.Effect<Now>
    /** Warns while no file can be written. */
    readonly writing: ReturnType<typeof makeWarnWhile>
  }
>() {}

const make = Effect.fnUntraced(function* (lifetime: number) {
  const controller = yield* Effect.serviceOption(ControllerState)
  const state = yield* Effect.transposeMapOption(controller, ({ state }) => state)
  const screens = Option.match(state, { onNone: () => [], onSome: ({ system }) => system.screens ?? [] })
  const expected = new Set(screens.map(({ id }) => id))
  const known = Known.of({
    leases: new Map(),
    lifetime,
    expected,
    steadyNow: makeSteadyNow(),
    writing: makeWarnWhile(
      (message) => `${message} Screens work, but which versions they show is forgotten at a restart.`
    )
  })
  const services = (yield* Effect.context<FileSystem.FileSystem | DownloadsFolder>()).pipe(
    Context.add(Known, known)
  )
  const provided = Effect.provide(services)
  const looks = yield* singleFlight<void, VersionStoreError>(yield* Effect.scope)
  const lookAtAll = looks.once(provided(Effect.flatMap(makeIsDue, (isDue) => forEachConsumer(look, isDue))))
  // Finds the leases of an earlier run before the first lease is taken. Not at the start, which it could delay.
  const firstLook = yield* Effect.once(Effect.ignore(lookAtAll))
  yield* Effect.addFinalizer(() => endWithin("500 millis")(provided(settle)))
  return Leases.of({
    fresh: Effect.zipRight(lookAtAll, freshIn(known)),
    consumers: consumersIn(known),
    sweep: provided(Effect.zipRight(forEachConsumer(removeIfOver), fresh)),
    renew: (consumerId, lease) => provided(renew(consumerId, lease)),
    take: (consumerId, lease) => Effect.zipRight(firstLook, provided(take(consumerId, lease)))
  })
})

/** Makes a value of each lease. `Known` is a parameter because each look at the state calls this: a service costs more. */
const each =
  <A>(make: (...entry: Parameters<typeof Consumers.consumerOf>) => Option.Option<A>) =>
  ({ expected, leases, lifetime, steadyNow }: Known["Type"]) =>
    Effect.map(steadyNow, (now) =>
      Array.filterMap([...leases], ([consumerId, entry]) =>
        make(consumerId, entry, lifetime, now, expected.has(consumerId))
      )
    )

const freshIn = each(Consumers.leaseOf)

const fresh = Effect.flatMap(Known, freshIn)

const consumersIn = (known: Known["Type"]) =>
  Effect.map(each(Consumers.consumerOf)(known), (consumers) =>
    consumers.sort(Consumers.lastHeardFirst).slice(0, maxConsumers)
  )

/** A consumer; `None` if it has no lease, or its lease is over. */
const consumer = Effect.fnUntraced(function* (consumerId: string) {
  const { leases, lifetime, steadyNow } = yield* Known
  const now = yield* steadyNow
  return Option.flatMap(Option.fromNullable(leases.get(consumerId)), (entry) =>
    Consumers.consumerOf(consumerId, entry, lifetime, now)
  )
})

/** The lease of a consumer, if it is fresh. */
const leaseOf = Effect.fnUntraced(function* (consumerId: string) {
  const { leases, lifetime, steadyNow } = yield* Known
  const now = yield* steadyNow
  const entry = leases.get(consumerId)
  return entry === undefined || Consumers.isOver(entry, lifetime, now) ? Option.none() : entry.lease
})

const fileOf = (consumerId: string) =>
  Effect.map(DownloadsFolder, ({ acks }) => join(acks, `${consumerId}${extension}`))

/** Keeps the present content of a consumer's file. */
const learn = Effect.fnUntraced(function* (consumerId: string, file: LeaseFile.LeaseFile) {
  const { leases, lifetime } = yield* Known
  leases.set(consumerId, Consumers.learn(leases.get(consumerId), file, lifetime, yield* readNow))
})

/** Updates what is known of a consumer's file, unless a lease is taken meanwhile. */
const look = Effect.fnUntraced(function* (consumerId: string) {
  const { leases } = yield* Known
  const before = leases.get(consumerId)
  if (before?.isUnwritten === true) return
  const after = yield* LeaseFile.inspect(yield* fileOf(consumerId), before)
  if (after === before || leases.get(consumerId) !== before) return
  const { monotonic, wall } = yield* readNow
  if (
    before !== undefined &&
    LeaseFile.isAhead(before) &&
    (after?.modifiedAt ?? 0) <= wall - (monotonic - before.renewedAt)
  ) {
    // Somebody has removed or replaced the file, and the last ack came after that.
    leases.set(consumerId, { ...before, isUnwritten: true })
  } else {
    yield* after === undefined ? Effect.sync(() => leases.delete(consumerId)) : learn(consumerId, after)
  }
})

/**
 * How long a file that was written is left alone, in milliseconds: acks renew its lease in memory, and looks do not look at it.
 * After the controller was killed, a lease is up to so much older.
 */
const restMs = (lifetime: number): number => Math.min(60_000, lifetime / 30)

const isResting = (
  { takenAt = Number.NEGATIVE_INFINITY }: LeaseFile.LeaseFile,
  lifetime: number,
  { monotonic }: Now
): boolean => monotonic >= takenAt && monotonic - takenAt < restMs(lifetime)

/** Gives whether the file of a consumer is looked at now. */
const makeIsDue = Effect.gen(function* () {
  const { leases, lifetime } = yield* Known
  const now = yield* readNow
  return (consumerId: string) => {
    const entry = leases.get(consumerId)
    return entry === undefined || !isResting(entry, lifetime, now)
  }
})

/** Runs for the consumers that are known, or have a file. */
const forEachConsumer = Effect.fnUntraced(function* <R>(
  work: (consumerId: string) => Effect.Effect<void, never, R>,
  isDue: (consumerId: string) => boolean = constTrue
) {
  const { leases } = yield* Known
  const { acks } = yield* DownloadsFolder
  const names = yield* namesIn(yield* FileSystem.FileSystem, acks)
  const found = names
    .filter((name) => name.endsWith(extension))
    .map((name) => name.slice(0, -extension.length))
    .filter((consumerId) => !leases.has(consumerId) && isPlainFileName(consumerId))
  const ids = [...leases.keys(), ...found].filter(isDue)
  // A fiber for each part, not for each consumer. A single part needs no fiber.
  const parts = Array.chunksOf(ids, Math.max(1, Math.ceil(ids.length / 8)))
  yield* Effect.forEach(parts, (part) => Effect.forEach(part, work, { discard: true }), {
    concurrency: parts.length,
    discard: true
  })
})

const hasEnded = Effect.fnUntraced(function* (consumerId: string) {
  const { leases } = yield* Known
  const wasLeased = Option.exists(Option.fromNullable(leases.get(consumerId)), ({ lease }) =>
    Option.isSome(lease)
  )
  return wasLeased && Option.isNone(yield* leaseOf(consumerId))
})

/** Looks at the file just before: its consumer may have renewed the lease. */
const removeIfOver = Effect.fnUntraced(function* (consumerId: string) {
  yield* look(consumerId)
  const { expected, leases } = yield* Known
  if (expected.has(consumerId) || !(yield* hasEnded(consumerId))) return
  const fs = yield* FileSystem.FileSystem
  yield* retryHeldOpen(fs.remove(yield* fileOf(consumerId), { force: true })).pipe(
    Effect.tap(() => leases.delete(consumerId)),
    Effect.catchAll(({ message }) => Effect.logDebug(`An expired lease stays on disk. ${message}`))
  )
})

/** Fails if another lease would exceed the limit. */
const admit = Effect.gen(function* () {
  const { leases, lifetime } = yield* Known
  yield* Effect.forEach(yield* Effect.filter(leases.keys(), hasEnded), removeIfOver, { discard: true })
  if ((yield* fresh).length >= maxConsumers) {
    return yield* new TooManyLeases({ limit: maxConsumers, lease: Duration.format(lifetime) })
  }
})

/** A renewal with equal content writes nothing: only the time of the file changes. */
const rewrite = Effect.fnUntraced(function* (
  consumerId: string,
  lease: LeaseFile.LeaseContent,
  before: Option.Option<LeaseFile.LeaseContent>
) {
  const { claimed, staging, wasClaimed } = yield* DownloadsFolder
  const { isUnwritten = false, size } = (yield* Known).leases.get(consumerId) ?? {}
  const file = yield* fileOf(consumerId)
  const write = Effect.zipRight(claimed, LeaseFile.write(file, lease, staging))
  const isSame = Option.exists(before, (before) => isDeepStrictEqual(before, lease))
  return yield* isSame && size !== undefined && !isUnwritten && (yield* wasClaimed)
    ? Effect.orElse(LeaseFile.touch(file, lease, size), () => write)
    : write
})

/**
 * Writes a lease and counts it, both or neither: a file that nobody counts would exceed the limit. On a disk that is full
 * or read-only, the lease is kept in memory: its consumer is there, and would count as silent otherwise.
 */
const keep = Effect.fnUntraced(function* (
  consumerId: string,
  lease: LeaseFile.LeaseContent,
  before: Option.Option<LeaseFile.LeaseContent>,
  renewedAt?: number
) {
  const { writing } = yield* Known
  const file = yield* rewrite(consumerId, lease, before).pipe(
    Effect.zipLeft(writing.works),
    Effect.catchIf(isUnwritable, ({ message }) =>
      Effect.zipRight(writing.fails(message), LeaseFile.unwritten(lease))
    )
  )
  yield* learn(consumerId, { ...file, renewedAt: renewedAt ?? file.renewedAt })
}, Effect.uninterruptible)

const renew = Effect.fnUntraced(function* (consumerId: string, written: LeaseFile.WrittenLease) {
  const { leases, lifetime } = yield* Known
  const entry = leases.get(consumerId)
  const now = yield* readNow
  if (entry === undefined || !isResting(entry, lifetime, now) || Consumers.isOver(entry, lifetime, now)) {
    return Option.none()
  }
  const lease = LeaseFile.contentOf(written)
  const isSame = Option.exists(entry.lease, (before) => isDeepStrictEqual(before, lease))
  if (!isSame || lease.closing === true || Runs.hasClosed(entry.runs, lease.runId, now.monotonic)) {
    return Option.none()
  }
  yield* learn(consumerId, { ...entry, changedAt: now.wall, renewedAt: now.monotonic })
  return yield* consumer(consumerId)
})

/** Gives files the times of the acks that have renewed their leases in memory. */
const settle = Effect.gen(function* () {
  const { leases } = yield* Known
  const fs = yield* FileSystem.FileSystem
  const settleOne = Effect.fnUntraced(function* (consumerId: string) {
    yield* look(consumerId)
    const entry = leases.get(consumerId)
    if (entry === undefined || !LeaseFile.isAhead(entry) || entry.isUnwritten === true) return
    const { monotonic, wall } = yield* readNow
    const at = new Date(wall - (monotonic - entry.renewedAt))
    yield* Effect.ignore(fs.utimes(yield* fileOf(consumerId), at, at))
  })
  const ahead = [...leases].flatMap(([consumerId, entry]) => (LeaseFile.isAhead(entry) ? consumerId : []))
  yield* Effect.forEach(ahead, settleOne, { concurrency: 8, discard: true })
})

const take = Effect.fnUntraced(function* (consumerId: string, written: LeaseFile.WrittenLease) {
  const { leases } = yield* Known
  yield* look(consumerId)
  const before = yield* leaseOf(consumerId)
  const content = LeaseFile.contentOf(written)
  const { monotonic } = yield* readNow
  if (content.closing === true) {
    yield* Effect.transposeMapOption(before, (lease) => close(consumerId, lease, content.runId))
  } else if (!Runs.hasClosed(leases.get(consumerId)?.runs ?? Runs.noRuns, content.runId, monotonic)) {
    if (Option.isNone(before)) yield* admit
    yield* keep(consumerId, content, before)
  }
  return yield* consumer(consumerId)
})

/**
 * Ends a lease soon. If another run of the consumer is still there, the lease continues with the content of that run.
 */
const close = Effect.fnUntraced(function* (
  consumerId: string,
  before: LeaseFile.LeaseContent,
  runId: string | undefined
) {
  const { leases, lifetime } = yield* Known
  const entry = leases.get(consumerId)
  const now = yield* readNow
  const runs = Runs.close(entry?.runs ?? Runs.noRuns, runId, now)
  if (entry !== undefined) {
    leases.set(consumerId, { ...entry, runs })
  }
  if (runId !== undefined && before.runId !== undefined && runId !== before.runId) {
    return
  }
  const other =
    runId === undefined
      ? undefined
      : runs.heard.findLast((run) => Consumers.isPresent(run.lease, run.renewedAt, lifetime, now))
  // Any page may close under another page's id, so the version of the other run must stay.
  const lease = other?.lease ?? { ...before, closing: true as const }
  yield* keep(consumerId, lease, Option.some(before), other?.renewedAt)
})
