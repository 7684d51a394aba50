/**
 * The file of one lease, `acks/<consumerId>.json`: it holds `{ versionId, problem?, renewMs?, visible?, drawing?, runId?, navigated?, closing? }`,
 * and is as old as its time of change says. Consumers may write it without the controller.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { replaceFile } from "../../files/durable.ts"
import { now } from "../../internal/monotonicMillis.ts"
import { printableLine } from "../../internal/printable.ts"
import { type Lease, VersionId } from "../../services/VersionStore.ts"
import type { Heard, Said } from "../screens/Consumers.ts"
import { mapDiskError } from "./diskError.ts"

/** A lease file is far smaller; of a larger one nothing is read. */
const maxBytes = 4096

/** How much is kept of the text of a problem, in characters. */
const maxProblem = 500
const maxRunId = 64

/** A file that changed so recently may change again without a later time of change, in milliseconds. */
const youngMs = 2000

/** What is known of a file: what it last said, because a file that is just being written may be read half. */
export interface LeaseFile extends Heard {
  readonly size: bigint
}

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
export const write = (file: string, lease: Said, staging: string) =>
  replaceFile(file, JSON.stringify(lease), { staging }).pipe(
    mapDiskError("write", file),
    Effect.zipRight(touch(file, lease))
  )

/** Renews the lease that a file has already, by its time alone. */
export const touch = Effect.fnUntraced(function* (file: string, lease: Said) {
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
export const contentOf = (written: WrittenLease): Said => {
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
