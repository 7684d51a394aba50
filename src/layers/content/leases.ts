/**
 * Leases of consumers on versions, one file each (decisions, part A): `acks/<consumerId>.json` holds
 * `{ versionId, problem? }`, and is as old as its file. Consumers may write them without the controller.
 *
 * A file is read when it is new or has changed; from then on its lease ages by the monotonic clock, so that a clock
 * that is set forward does not end it. Files of leases that are over are removed; whatever else lies in the folder is
 * left alone. In memory there is one small entry for each file, and commands add no more than `maxLeases`: one more
 * consumer is refused.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type Lease, TooManyLeases, VersionId, type VersionStoreError } from "../../services/VersionStore.ts"
import { apartFromSpan } from "../apartFromSpan.ts"
import { isPlainFileName } from "../FileName.ts"
import { explained, orWhereMissing } from "./diskError.ts"
import { replaceFile } from "./durable.ts"
import { singleFlight } from "./singleFlight.ts"

/** How many consumers may hold a lease before commands of further ones are refused. */
const maxLeases = 256

/** A lease file is far smaller; of a larger one nothing is read. */
const maxBytes = 4096

/** How much is kept of the text of a problem, in characters. */
const maxProblem = 200

/** A file that changed so recently may change again without a later time of change, in milliseconds. */
const youngMs = 2000

const extension = ".json"

export interface Leases {
  /** All leases that are fresh. What is no lease file is passed over. Concurrent readings are one. */
  readonly fresh: Effect.Effect<ReadonlyArray<Lease>, VersionStoreError>
  /** Removes the files of leases that are over, and gives those that are fresh. */
  readonly sweep: Effect.Effect<ReadonlyArray<Lease>, VersionStoreError>
  readonly take: (lease: Omit<Lease, "until">) => Effect.Effect<void, VersionStoreError | TooManyLeases>
}

export interface Settings {
  readonly folder: string
  /** How long a lease is fresh. */
  readonly duration: Duration.DurationInput
  /** As for `replaceFile`. */
  readonly scratch: string
}

/** What is known of a file. */
interface Entry {
  /** In milliseconds since 1970. */
  readonly changedAt: number
  readonly size: bigint
  /** By the monotonic clock, in milliseconds. */
  readonly takenAt: number
  /** What the file last said: one that is just being written may be read half. Nothing if it was never a lease. */
  readonly lease: Option.Option<Pick<Lease, "versionId" | "problem">>
}

export const make = Effect.fnUntraced(function* ({ duration, folder, scratch }: Settings) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const platform = yield* apartFromSpan(Effect.context<FileSystem.FileSystem | Path.Path>())
  const lifetime = Duration.toMillis(duration)
  const known = new Map<string, Entry>()
  const fileOf = (consumerId: string) => path.join(folder, `${consumerId}${extension}`)

  const isOver = ({ takenAt }: Entry, { monotonic }: Now) => monotonic - takenAt > lifetime

  const freshNow = Effect.map(now, (now) =>
    [...known].flatMap(([consumerId, entry]) =>
      Option.match(entry.lease, {
        onNone: () => [],
        onSome: (lease) =>
          isOver(entry, now)
            ? []
            : [{ consumerId, ...lease, until: now.wall + lifetime - (now.monotonic - entry.takenAt) }]
      })
    )
  )

  /** Brings what is known of a consumer's file up to date, unless a lease is taken meanwhile. */
  const look = Effect.fnUntraced(function* (consumerId: string) {
    const before = known.get(consumerId)
    const after = yield* inspect(consumerId, before)
    if (known.get(consumerId) === before) {
      if (after === undefined) {
        known.delete(consumerId)
      } else {
        known.set(consumerId, after)
      }
    }
  })

  const inspect = Effect.fnUntraced(
    function* (consumerId: string, before: Entry | undefined) {
      const file = fileOf(consumerId)
      const { monotonic, wall } = yield* now
      const { size, type, ...stats } = yield* fs.stat(file)
      if (type !== "File") {
        // A pipe would be read for ever.
        return undefined
      }
      const changedAt = Option.match(stats.mtime, { onNone: () => 0, onSome: (date) => date.getTime() })
      const isSame = before?.changedAt === changedAt && before.size === size
      if (changedAt > wall) {
        // Taken while the clock was wrong: after a restart it would be fresh until that time has come.
        yield* Effect.ignore(fs.utimes(file, new Date(wall), new Date(wall)))
      }
      const takenAt = isSame ? before.takenAt : monotonic - Math.max(0, wall - changedAt)
      const lease = isSame && wall - changedAt > youngMs ? before.lease : yield* read(file, size)
      return {
        changedAt: Math.min(changedAt, wall),
        size,
        takenAt: Math.min(takenAt, monotonic),
        lease: Option.orElse(lease, () => before?.lease ?? Option.none())
      } satisfies Entry
    },
    (effect, _consumerId, before) =>
      Effect.catchAll(effect, (error) =>
        Effect.succeed(error._tag === "SystemError" && error.reason === "NotFound" ? undefined : before)
      )
  )

  const read = (file: string, size: bigint) =>
    size > maxBytes
      ? Effect.succeedNone
      : fs.open(file, { flag: "r" }).pipe(
          Effect.flatMap((handle) => handle.readAlloc(maxBytes)),
          Effect.flatten,
          Effect.flatMap((bytes) => decodeLeaseFile(new TextDecoder().decode(bytes))),
          Effect.map(({ problem, versionId }) => ({ versionId, ...problemOf(problem) })),
          Effect.option,
          Effect.scoped
        )

  /** Those of whom something is known, or to be learnt. */
  const consumers = fs.readDirectory(folder).pipe(
    orWhereMissing<ReadonlyArray<string>>([]),
    explained("read", folder),
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

  const lookAtAll = yield* singleFlight(forEachConsumer(look), yield* Effect.scope)

  /** Before the first lease is taken: the store before has left some. Not at the start, which that could delay. */
  const firstLook = yield* Effect.once(Effect.ignore(lookAtAll))

  /** The file is looked at just before: its consumer may have renewed the lease. */
  const removeIfOver = Effect.fnUntraced(function* (consumerId: string) {
    yield* look(consumerId)
    const entry = known.get(consumerId)
    if (entry !== undefined && Option.isSome(entry.lease) && isOver(entry, yield* now)) {
      yield* fs.remove(fileOf(consumerId), { force: true }).pipe(
        Effect.tap(() => known.delete(consumerId)),
        Effect.catchAll(({ message }) => Effect.logDebug(`A lease that is over stays on disk. ${message}`))
      )
    }
  })

  const isFresh = (consumerId: string) =>
    Effect.map(now, (now) => {
      const entry = known.get(consumerId)
      return entry !== undefined && Option.isSome(entry.lease) && !isOver(entry, now)
    })

  /** Fails where a lease of one more consumer would be too many. */
  const admitOneMore = Effect.gen(function* () {
    const currently = yield* now
    const over = [...known].flatMap(([consumerId, entry]) =>
      Option.isSome(entry.lease) && isOver(entry, currently) ? [consumerId] : []
    )
    yield* Effect.forEach(over, removeIfOver, { discard: true })
    if ((yield* freshNow).length >= maxLeases) {
      return yield* new TooManyLeases({ limit: maxLeases, lease: Duration.format(duration) })
    }
  })

  const take = Effect.fnUntraced(function* ({ consumerId, problem, versionId }: Omit<Lease, "until">) {
    yield* firstLook
    yield* Effect.unlessEffect(admitOneMore, isFresh(consumerId))
    const file = fileOf(consumerId)
    const { monotonic, wall } = yield* now
    const lease = { versionId, ...problemOf(problem) }
    yield* replaceFile(file, JSON.stringify(lease), scratch).pipe(
      Effect.zipRight(fs.utimes(file, new Date(wall), new Date(wall))),
      explained("write", file)
    )
    const { mtime, size } = yield* fs.stat(file).pipe(explained("read", file))
    known.set(consumerId, {
      changedAt: Option.match(mtime, { onNone: () => 0, onSome: (date) => date.getTime() }),
      size,
      takenAt: monotonic,
      lease: Option.some(lease)
    })
  }, Effect.provide(platform))

  return {
    fresh: Effect.zipRight(lookAtAll, freshNow),
    sweep: Effect.zipRight(forEachConsumer(removeIfOver), freshNow),
    take
  } satisfies Leases
})

const LeaseFile = Schema.parseJson(
  Schema.Struct({ versionId: VersionId, problem: Schema.optional(Schema.Unknown) })
)
const decodeLeaseFile = Schema.decode(LeaseFile)

/** What a consumer says of its problem, fit for one line of a status. */
const problemOf = (problem: unknown): Pick<Lease, "problem"> => {
  const text = typeof problem === "string" ? problem.replace(/[\s\p{Cc}\p{Cf}\p{Cs}]+/gu, " ").trim() : ""
  const characters = [...text.slice(0, 2 * (maxProblem + 1))]
  return text === ""
    ? {}
    : {
        problem:
          characters.length > maxProblem
            ? `${characters.slice(0, maxProblem).join("")}…`
            : characters.join("")
      }
}

interface Now {
  /** In milliseconds since 1970: it may be set to any other time. */
  readonly wall: number
  /** In milliseconds since some moment: it only goes on. */
  readonly monotonic: number
}

const now: Effect.Effect<Now> = Effect.clockWith((clock) =>
  Effect.sync(() => ({
    wall: clock.unsafeCurrentTimeMillis(),
    monotonic: Number(clock.unsafeCurrentTimeNanos() / 1_000_000n)
  }))
)
