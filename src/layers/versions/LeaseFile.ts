/**
 * The file of one lease, `acks/<consumerId>.json`: it holds `{ versionId, problem?, renewMs?, visible?, drawing?, runId?, navigated?, closing? }`,
 * and is as old as its time of change says. Consumers may write it without the controller.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { replaceFile } from "../../internal/durable.ts"
import { monotonicMillis } from "../../internal/monotonicMillis.ts"
import { printableLine } from "../../internal/printable.ts"
import { type AckDetails, type Lease, VersionId } from "../../services/VersionStore.ts"
import { mapDiskError } from "./diskError.ts"

/** A lease file is far smaller; of a larger one nothing is read. */
const maxBytes = 4096

/** How much is kept of the text of a problem, in characters. */
const maxProblem = 500
const maxRunId = 64

/** A file that changed so recently may change again without a later time of change, in milliseconds. */
const youngMs = 2000

export interface LeaseContent extends Pick<Lease, "versionId">, Omit<AckDetails, "closing"> {
  /** Missing where its consumer is not about to end. */
  readonly closing?: true
}

/** How old a lease can be whose consumer says that it closes: one who did not say so itself has renewed it by then. In milliseconds. */
export const closedAfterMs = (renewMs = 600_000): number => Math.max(120_000, 2 * renewMs)

/** What is known of a file. */
export interface LeaseFile {
  /** In milliseconds since 1970. */
  readonly changedAt: number
  readonly size: bigint
  /** By the monotonic clock, in milliseconds. */
  readonly takenAt: number
  /** What the file last said: one that is just being written may be read half. Nothing if it was never a lease. */
  readonly lease: Option.Option<LeaseContent>
}

/** What the consumer could not show; nothing for a file that is not there. */
export const problemIn = (file: LeaseFile | undefined): string | undefined =>
  file === undefined ? undefined : Option.getOrUndefined(file.lease)?.problem

/** Brings what is known of a file up to date; nothing where there is none. It is read if it is new or has changed. */
export const inspect = Effect.fnUntraced(
  function* (file: string, before: LeaseFile | undefined) {
    const fs = yield* FileSystem.FileSystem
    const { monotonic, wall } = yield* now
    const { size, type, ...stats } = yield* fs.stat(file)
    if (type !== "File") {
      // A pipe would be read for ever.
      return undefined
    }
    const changedAt = millisOf(stats.mtime)
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
    } satisfies LeaseFile
  },
  (effect, _file, before) =>
    Effect.catchAll(effect, (error) =>
      Effect.succeed(error._tag === "SystemError" && error.reason === "NotFound" ? undefined : before)
    )
)

const read = (file: string, size: bigint) =>
  size > maxBytes
    ? Effect.succeedNone
    : FileSystem.FileSystem.pipe(
        Effect.flatMap((fs) => fs.open(file, { flag: "r" })),
        Effect.flatMap((handle) => handle.readAlloc(maxBytes)),
        Effect.flatten,
        Effect.flatMap((bytes) => decode(new TextDecoder().decode(bytes))),
        Effect.map(contentOf),
        Effect.option,
        Effect.scoped
      )

/** Writes a lease that is taken now. `staging` is as for `replaceFile`. */
export const write = (file: string, lease: LeaseContent, staging: string) =>
  replaceFile(file, JSON.stringify(lease), { staging }).pipe(
    mapDiskError("write", file),
    Effect.zipRight(touch(file, lease))
  )

/** Renews the lease that a file has already, by its time alone. */
export const touch = Effect.fnUntraced(function* (file: string, lease: LeaseContent) {
  const fs = yield* FileSystem.FileSystem
  const { monotonic, wall } = yield* now
  yield* fs.utimes(file, new Date(wall), new Date(wall)).pipe(mapDiskError("write", file))
  const { mtime, size } = yield* fs.stat(file).pipe(mapDiskError("read", file))
  return {
    changedAt: millisOf(mtime),
    size,
    takenAt: monotonic,
    lease: Option.some(lease)
  } satisfies LeaseFile
})

const millisOf = Option.match({ onNone: () => 0, onSome: (date: Date) => date.getTime() })

/** As consumers write it: a problem that is no text is none, and so is a time that is no number. The same holds for the others. */
const WrittenLease = Schema.Struct({
  versionId: VersionId,
  problem: Schema.optional(Schema.Unknown),
  renewMs: Schema.optional(Schema.Unknown),
  visible: Schema.optional(Schema.Unknown),
  drawing: Schema.optional(Schema.Unknown),
  runId: Schema.optional(Schema.Unknown),
  navigated: Schema.optional(Schema.Unknown),
  closing: Schema.optional(Schema.Unknown)
})
export type WrittenLease = typeof WrittenLease.Type

const decode = Schema.decode(Schema.parseJson(WrittenLease))

/** What is kept of it. */
export const contentOf = (written: WrittenLease): LeaseContent => {
  const { closing, drawing, navigated, problem, renewMs, runId, versionId, visible } = written
  return {
    versionId,
    ...problemOf(problem),
    ...(isPositive(renewMs) ? { renewMs } : {}),
    ...(Predicate.isBoolean(visible) ? { visible } : {}),
    ...(Predicate.isBoolean(drawing) ? { drawing } : {}),
    ...(Predicate.isString(runId) && runId !== "" ? { runId: printableLine(runId, maxRunId) } : {}),
    ...(navigated === true ? { navigated } : {}),
    ...(closing === true ? { closing } : {})
  }
}

const isPositive = Schema.is(Schema.Positive)

/** The problem of a consumer, as one line for the status. */
const problemOf = (problem: unknown): Pick<Lease, "problem"> => {
  const text = typeof problem === "string" ? printableLine(problem, maxProblem) : ""
  return text === "" ? {} : { problem: text }
}

export interface Now {
  /** In milliseconds since 1970: it may be set to any other time. */
  readonly wall: number
  /** In milliseconds since some moment: it only goes on. */
  readonly monotonic: number
}

export const now: Effect.Effect<Now> = Effect.all({
  wall: Clock.currentTimeMillis,
  monotonic: monotonicMillis
})
