/**
 * Leases of consumers on versions, one file each (decisions, part A): `acks/<consumerId>.json` holds
 * `{ versionId }`, and its age is that of the file. Consumers may write them without the controller.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { type Lease, VersionId, type VersionStoreError } from "../../services/VersionStore.ts"
import { apartFromSpan } from "../apartFromSpan.ts"
import { explained, orWhereMissing } from "./diskError.ts"
import { replaceFile } from "./durable.ts"

const LeaseFile = Schema.parseJson(Schema.Struct({ versionId: VersionId }))

export interface Leases {
  /** All leases that are fresh. What is no lease file is passed over. */
  readonly fresh: Effect.Effect<ReadonlyArray<Lease>, VersionStoreError>
  readonly take: (lease: Omit<Lease, "until">) => Effect.Effect<void, VersionStoreError>
}

export interface Settings {
  readonly folder: string
  /** How old the file of a fresh lease may be. */
  readonly duration: Duration.DurationInput
  /** As for `replaceFile`. */
  readonly scratch: string
}

export const make = Effect.fnUntraced(function* ({ duration, folder, scratch }: Settings) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const platform = yield* apartFromSpan(Effect.context<FileSystem.FileSystem | Path.Path>())
  const lifetime = Duration.toMillis(duration)
  const fileOf = (consumerId: string) => path.join(folder, `${consumerId}.json`)

  /** What each consumer's file last said: one that is just being written anew may be read half. */
  const known = new Map<string, VersionId>()

  const read = Effect.fnUntraced(function* (consumerId: string, now: number) {
    const file = fileOf(consumerId)
    const { mtime, type } = yield* fs.stat(file)
    if (type !== "File") {
      // A pipe would be read for ever.
      return []
    }
    const said = yield* fs.readFileString(file).pipe(Effect.flatMap(Schema.decode(LeaseFile)), Effect.option)
    if (Option.isSome(said)) {
      known.set(consumerId, said.value.versionId)
    }
    const versionId = known.get(consumerId)
    const takenAt = Option.match(mtime, { onNone: () => 0, onSome: (date) => date.getTime() })
    if (takenAt > now) {
      // Taken while the clock was wrong: it would be fresh until that time has come.
      yield* Effect.ignore(fs.utimes(file, new Date(now), new Date(now)))
    }
    const until = Math.min(takenAt, now) + lifetime
    return until >= now && versionId !== undefined ? [{ consumerId, versionId, until }] : []
  })

  const fresh = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const names = yield* fs
      .readDirectory(folder)
      .pipe(orWhereMissing<ReadonlyArray<string>>([]), explained("read", folder))
    const leases = yield* Effect.forEach(
      names.filter((name) => name.endsWith(".json")),
      (name) => read(path.basename(name, ".json"), now).pipe(Effect.orElseSucceed(() => []))
    )
    return leases.flat()
  })

  const take = Effect.fnUntraced(function* ({ consumerId, versionId }: Omit<Lease, "until">) {
    const file = fileOf(consumerId)
    const now = new Date(yield* Clock.currentTimeMillis)
    yield* replaceFile(file, JSON.stringify({ versionId }), scratch).pipe(
      Effect.zipRight(fs.utimes(file, now, now)),
      explained("write", file)
    )
    known.set(consumerId, versionId)
  }, Effect.provide(platform))

  return { fresh, take } satisfies Leases
})
