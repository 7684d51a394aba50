/**
 * The file of one lease, `acks/<consumerId>.json`, with `{ versionId, problem?, renewMs?, visible?, drawing?, runId?,
 * navigated?, closing? }`. Its modification time is its age. Consumers may write it without the controller.
 */

import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { replaceFile } from "../../files/durable.ts"
import { mapDiskError } from "../../files/versionStoreError.ts"
import { now } from "../../internal/monotonicMillis.ts"
import { printableLine } from "../../internal/printable.ts"
import { type AckDetails, type Lease, VersionId } from "../../services/VersionStore.ts"

/** The largest lease file that is read, in bytes. */
const maxBytes = 4096

/** The longest text of a problem that is kept, in characters. */
const maxProblem = 500
const maxRunId = 64

/** A file that changed so recently may change again within the same modification time, in milliseconds. */
const youngMs = 2000

/** The content of a lease, as the consumer wrote it. */
export interface LeaseContent extends Pick<Lease, "versionId">, Omit<AckDetails, "closing"> {
  /** Missing unless the consumer is closing. */
  readonly closing?: true | undefined
}

/** The last lease of a consumer. */
export interface Heard {
  /** When its content changed, in milliseconds since 1970. */
  readonly changedAt: number
  /** When it was last renewed: monotonic time, in milliseconds. */
  readonly renewedAt: number
  /** `None` if no lease of the consumer could ever be read. */
  readonly lease: Option.Option<LeaseContent>
}

/** What is known of a file. Keeps the last complete content: a file may be read while it is being written. */
export interface LeaseFile extends Heard {
  readonly size: bigint
  /** Its modification time, which may be in the future, in milliseconds since 1970. */
  readonly modifiedAt: number
  /** Whether it cannot have changed again within its modification time. */
  readonly isSettled: boolean
  /** When this process last wrote it: monotonic time, in milliseconds. */
  readonly takenAt?: number | undefined
  /** Set if the lease is only in memory: then the file, if there is one, is older. */
  readonly isUnwritten?: true | undefined
}

/** Whether an ack has renewed the lease in memory since this process last wrote its file. */
export const isAhead = ({ renewedAt, takenAt = renewedAt }: LeaseFile): boolean => renewedAt > takenAt

/** Updates what is known of a file; `undefined` if there is no file. Reads only new and changed files: `before` is unchanged. */
export const inspect = Effect.fnUntraced(
  function* (file: string, before: LeaseFile | undefined) {
    const fs = yield* FileSystem.FileSystem
    const { mtime, size, type } = yield* fs.stat(file)
    if (type !== "File") {
      // Reading a pipe would never end.
      return undefined
    }
    const found = millisOf(mtime)
    const isSame = before?.modifiedAt === found && before.size === size
    const { monotonic, wall } = yield* now
    if (isSame && before.isSettled && found <= wall && before.renewedAt <= monotonic) return before
    // A file in the future was written while the clock was wrong. After a restart, the lease would count as fresh until
    // that time. The file of another user stays as it is.
    const modifiedAt =
      found > wall
        ? yield* fs.utimes(file, new Date(wall), new Date(wall)).pipe(
            Effect.as(wall),
            Effect.orElseSucceed(() => found)
          )
        : found
    const changedAt = Math.min(isSame ? before.changedAt : found, wall)
    const renewedAt = isSame ? before.renewedAt : monotonic - (wall - changedAt)
    const lease = yield* read(file, size)
    return {
      changedAt,
      modifiedAt,
      size,
      isSettled: wall - changedAt > youngMs,
      renewedAt: Math.min(renewedAt, monotonic),
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

/** Writes a lease and sets its time to now. `staging` is as for `replaceFile`. */
export const write = (file: string, lease: LeaseContent, staging: string) => {
  const content = JSON.stringify(lease)
  return replaceFile(file, content, { staging }).pipe(
    mapDiskError("write", file),
    Effect.zipRight(touch(file, lease, BigInt(Buffer.byteLength(content))))
  )
}

/** Renews an existing lease of this size: changes only the time of the file. */
export const touch = Effect.fnUntraced(function* (file: string, lease: LeaseContent, size: bigint) {
  const fs = yield* FileSystem.FileSystem
  const taken = yield* takenNow(lease, size)
  const at = new Date(taken.modifiedAt)
  yield* fs.utimes(file, at, at).pipe(mapDiskError("write", file))
  return taken
})

/** A lease that is only in memory. */
export const unwritten = (lease: LeaseContent) =>
  Effect.map(takenNow(lease, 0n), (taken): LeaseFile => ({ ...taken, isSettled: false, isUnwritten: true }))

const takenNow = (lease: LeaseContent, size: bigint) =>
  Effect.map(
    now,
    ({ monotonic, wall }): LeaseFile => ({
      changedAt: wall,
      modifiedAt: wall,
      size,
      isSettled: true,
      takenAt: monotonic,
      renewedAt: monotonic,
      lease: Option.some(lease)
    })
  )

const millisOf = Option.match({ onNone: () => 0, onSome: (date: Date) => date.getTime() })

/** As consumers write it. A field of the wrong type is ignored, as if it were missing. */
const WrittenLease = Schema.Struct(
  { versionId: VersionId },
  Schema.Record({ key: Schema.String, value: Schema.Unknown })
)
export type WrittenLease = Pick<Lease, "versionId"> & Readonly<Record<string, unknown>>

const decode = Schema.decode(Schema.parseJson(WrittenLease))

/** The fields that are kept, without fields of the wrong type. */
export const contentOf = (written: WrittenLease): LeaseContent => {
  const { closing, drawing, navigated, problem, renewMs, runId, versionId, visible } = written
  return {
    versionId,
    problem: lineOf(problem, maxProblem),
    renewMs: isPositive(renewMs) ? renewMs : undefined,
    visible: Predicate.isBoolean(visible) ? visible : undefined,
    drawing: Predicate.isBoolean(drawing) ? drawing : undefined,
    runId: lineOf(runId, maxRunId),
    navigated: navigated === true || undefined,
    closing: closing === true || undefined
  }
}

const isPositive = Schema.is(Schema.Positive)

/** One printable line for the status, if there is any text. */
const lineOf = (text: unknown, most: number): string | undefined =>
  (Predicate.isString(text) && printableLine(text, most)) || undefined
