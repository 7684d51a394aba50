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
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { DownloadsFolder } from "../../files/DownloadsFolder.ts"
import { isPlainFileName } from "../../files/fileName.ts"
import { retryHeldOpen } from "../../files/systemError.ts"
import { mapDiskError, orWhereMissing } from "../../files/versionStoreError.ts"
import { singleFlight } from "../../internal/background.ts"
import { type Now, now as readNow } from "../../internal/monotonicMillis.ts"
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

type KnownLease = Consumers.Known<LeaseFile.LeaseFile>

export class Leases extends Context.Tag("vitrine/Leases")<
  Leases,
  {
    /** All fresh leases. Other files are ignored. Concurrent calls share one look at the folder. */
    readonly fresh: Effect.Effect<ReadonlyArray<Lease>, VersionStoreError>

    /** The consumers, as `VersionStore.consumers`. */
    readonly consumers: Effect.Effect<ReadonlyArray<Consumer>>

    /** Removes the files of expired leases, and gives the fresh leases. */
    readonly sweep: Effect.Effect<ReadonlyArray<Lease>, VersionStoreError>

    /** Takes or renews a lease. With `closing`, takes no lease, and lets an existing lease end soon. */
    readonly take: (
      consumerId: string,
      lease: LeaseFile.WrittenLease
    ) => Effect.Effect<void, VersionStoreError | TooManyLeases>
  }
>() {}

/** `duration` is how long a lease is fresh without renewal. */
export const layer = (duration: Duration.DurationInput) => Layer.scoped(Leases, make(duration))

const make = Effect.fnUntraced(function* (duration: Duration.DurationInput) {
  const { acks: folder, claimed, staging, wasClaimed } = yield* DownloadsFolder
  const fs = yield* FileSystem.FileSystem
  const platform = yield* Effect.context<FileSystem.FileSystem>()
  const lifetime = Duration.toMillis(duration)
  const known = new Map<string, KnownLease>()
  const fileOf = (consumerId: string) => join(folder, `${consumerId}${extension}`)

  const isOver = (entry: KnownLease, now: Now) => Consumers.isOver(entry, lifetime, now)

  const freshNow = Effect.map(readNow, (now) =>
    Array.filterMap([...known], ([consumerId, entry]) => Consumers.leaseOf(consumerId, entry, lifetime, now))
  )

  const lastHeardOf = Effect.map(readNow, (now) =>
    Array.filterMap([...known], ([consumerId, entry]) =>
      Consumers.consumerOf(consumerId, entry, lifetime, now)
    )
      .sort((one, other) => other.heardAt - one.heardAt)
      .slice(0, maxConsumers)
  )

  /** Keeps the present content of a consumer's file. */
  const learn = (consumerId: string, file: LeaseFile.LeaseFile, now: Now) => {
    known.set(consumerId, Consumers.learn(known.get(consumerId), file, lifetime, now))
  }

  /** Updates what is known of a consumer's file, unless a lease is taken meanwhile. */
  const look = Effect.fnUntraced(function* (consumerId: string) {
    const before = known.get(consumerId)
    const after = yield* Effect.provide(LeaseFile.inspect(fileOf(consumerId), before), platform)
    const now = yield* readNow
    if (known.get(consumerId) === before) {
      if (after === undefined) {
        known.delete(consumerId)
      } else {
        learn(consumerId, after, now)
      }
    }
  })

  /** The consumers that are known, or have a file. */
  const consumers = fs.readDirectory(folder).pipe(
    orWhereMissing<ReadonlyArray<string>>([]),
    mapDiskError("read", folder),
    Effect.map(
      (names) =>
        new Set([
          ...known.keys(),
          ...names
            .filter((name) => name.endsWith(extension))
            .map((name) => name.slice(0, -extension.length))
            .filter(isPlainFileName)
        ])
    )
  )

  const forEachConsumer = (work: (consumerId: string) => Effect.Effect<void>) =>
    Effect.flatMap(consumers, (consumers) =>
      Effect.forEach(consumers, work, { concurrency: 8, discard: true })
    )

  const looks = yield* singleFlight<void, VersionStoreError>(yield* Effect.scope)
  const lookAtAll = looks.once(forEachConsumer(look))

  /**
   * Finds the leases of an earlier run before the first lease is taken. Not done at the start, which it could delay.
   */
  const firstLook = yield* Effect.once(Effect.ignore(lookAtAll))

  const hasEnded = (consumerId: string) =>
    Effect.map(readNow, (now) => {
      const entry = known.get(consumerId)
      return entry !== undefined && Option.isSome(entry.lease) && isOver(entry, now)
    })

  /** Looks at the file just before: its consumer may have renewed the lease. */
  const removeIfOver = (consumerId: string) =>
    retryHeldOpen(fs.remove(fileOf(consumerId), { force: true })).pipe(
      Effect.tap(() => known.delete(consumerId)),
      Effect.catchAll(({ message }) => Effect.logDebug(`An expired lease stays on disk. ${message}`)),
      Effect.whenEffect(Effect.zipRight(look(consumerId), hasEnded(consumerId)))
    )

  /** Fails if a lease of this consumer would exceed the limit. */
  const admit = Effect.fnUntraced(function* (consumerId: string) {
    if ((yield* freshNow).some((lease) => lease.consumerId === consumerId)) {
      return
    }
    yield* Effect.forEach(yield* Effect.filter(known.keys(), hasEnded), removeIfOver, { discard: true })
    if ((yield* freshNow).length >= maxConsumers) {
      return yield* new TooManyLeases({ limit: maxConsumers, lease: Duration.format(duration) })
    }
  })

  /** The content of a consumer's file, if its lease is fresh. */
  const leaseOf = Effect.fnUntraced(function* (consumerId: string) {
    yield* look(consumerId)
    const now = yield* readNow
    return Option.flatMap(Option.fromNullable(known.get(consumerId)), (entry) =>
      isOver(entry, now) ? Option.none() : entry.lease
    )
  })

  /** A renewal with equal content writes nothing: only the time of the file changes. */
  const renew = Effect.fnUntraced(function* (
    file: string,
    lease: LeaseFile.LeaseContent,
    before: Option.Option<LeaseFile.LeaseContent>
  ) {
    const write = Effect.zipRight(claimed, LeaseFile.write(file, lease, staging))
    const isSame = Option.exists(before, (before) => isDeepStrictEqual(before, lease))
    return yield* isSame && (yield* wasClaimed)
      ? Effect.orElse(LeaseFile.touch(file, lease), () => write)
      : write
  })

  /** Writes a lease and counts it, both or neither: a file that nobody counts would exceed the limit. */
  const keep = (
    consumerId: string,
    lease: LeaseFile.LeaseContent,
    before: Option.Option<LeaseFile.LeaseContent>,
    renewedAt?: number
  ) =>
    Effect.uninterruptible(
      Effect.gen(function* () {
        const file = yield* renew(fileOf(consumerId), lease, before)
        learn(consumerId, { ...file, renewedAt: renewedAt ?? file.renewedAt }, yield* readNow)
      })
    )

  const take = Effect.fnUntraced(function* (consumerId: string, written: LeaseFile.WrittenLease) {
    yield* firstLook
    const before = yield* leaseOf(consumerId)
    const content = LeaseFile.contentOf(written)
    if (content.closing === true) {
      return Option.isSome(before) ? yield* close(consumerId, before.value, content.runId) : undefined
    }
    const { monotonic } = yield* readNow
    if (Runs.hasClosed(known.get(consumerId)?.runs ?? Runs.noRuns, content.runId, monotonic)) {
      return
    }
    yield* admit(consumerId)
    yield* keep(consumerId, content, before)
  }, Effect.provide(platform))

  /**
   * Ends a lease soon. If another run of the consumer is still there, the lease continues with the content of that run.
   */
  const close = Effect.fnUntraced(function* (
    consumerId: string,
    before: LeaseFile.LeaseContent,
    runId: string | undefined
  ) {
    const entry = known.get(consumerId)
    const now = yield* readNow
    const runs = Runs.close(entry?.runs ?? Runs.noRuns, runId, now)
    if (entry !== undefined) {
      known.set(consumerId, { ...entry, runs })
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

  return Leases.of({
    fresh: Effect.zipRight(lookAtAll, freshNow),
    consumers: lastHeardOf,
    sweep: Effect.zipRight(forEachConsumer(removeIfOver), freshNow),
    take
  })
})
