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
import { VersionId } from "../../services/VersionStore.ts"
import { explained, orWhereMissing } from "./diskError.ts"
import { replaceFile } from "./durable.ts"

export interface Lease {
  readonly consumerId: string
  readonly versionId: VersionId
}

const LeaseFile = Schema.parseJson(Schema.Struct({ versionId: VersionId }))

/** All leases that are not older than `duration`. What is no lease file is passed over. */
export const readFresh = Effect.fnUntraced(function* (folder: string, duration: Duration.DurationInput) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const oldest = (yield* Clock.currentTimeMillis) - Duration.toMillis(duration)

  const read = Effect.fnUntraced(
    function* (name: string) {
      const file = path.join(folder, name)
      const { mtime } = yield* fs.stat(file)
      const { versionId } = yield* Schema.decode(LeaseFile)(yield* fs.readFileString(file))
      const isFresh = Option.exists(mtime, (date) => date.getTime() >= oldest)
      return isFresh ? [{ consumerId: path.basename(name, ".json"), versionId }] : []
    },
    Effect.orElseSucceed((): ReadonlyArray<Lease> => [])
  )

  const names = yield* fs
    .readDirectory(folder)
    .pipe(orWhereMissing<ReadonlyArray<string>>([]), explained("read", folder))
  const leases = yield* Effect.forEach(
    names.filter((name) => name.endsWith(".json")),
    read
  )
  return leases.flat()
})

/** Takes or renews a lease; `scratch` is as for `replaceFile`. */
export const take = Effect.fnUntraced(function* (
  folder: string,
  { consumerId, versionId }: Lease,
  scratch: string
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(folder, `${consumerId}.json`)
  const now = new Date(yield* Clock.currentTimeMillis)
  yield* replaceFile(file, JSON.stringify({ versionId }), scratch).pipe(
    Effect.zipRight(fs.utimes(file, now, now)),
    explained("write", file)
  )
})
