/**
 * Makes the version of a hub the latest version here: leaves it if it is the latest, activates it if it is on disk, or copies it. What
 * waits there for the end of a hold is copied ahead.
 */

import * as Path from "@effect/platform/Path"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { FileList } from "../../files/FileList.ts"
import { sumCounts } from "../../internal/contentCounts.ts"
import { withoutParentSpan } from "../../internal/withoutParentSpan.ts"
import { type Manifest, type VersionId, VersionStore } from "../../services/VersionStore.ts"
import type { Fetched } from "../fetching/Provider.ts"
import type { Report } from "../fetching/report.ts"
import { readList } from "../versions/fileLists.ts"
import { latestOf } from "../versions/ManifestFile.ts"
import { type IsWanted, makeCopyVersion } from "./copyVersion.ts"
import type { Hub } from "./Hub.ts"
import { type HubVersion, isLatestOf } from "./hubManifest.ts"

/** Returns what takes versions of the hub. */
export const makeTakeVersion = Effect.fnUntraced(function* (
  hub: Hub,
  report: Report,
  pollEvery: Duration.DurationInput
) {
  const path = yield* Path.Path
  const store = yield* VersionStore
  const platform = yield* withoutParentSpan(
    Effect.context<Effect.Effect.Context<ReturnType<typeof readList>>>()
  )
  const copies = yield* makeCopyVersion(report, pollEvery)

  const folderOf = (versionId: VersionId) => path.join(store.directory, "versions", versionId)

  const listOf = (versionId: VersionId) => Effect.provide(readList(folderOf(versionId), versionId), platform)

  /** Whether files of the latest version are missing or not what they were, as far as that is known. */
  const isDamaged = ({ sources }: FileList) =>
    Effect.map(store.stage, ({ previous }) =>
      sources.some(({ sourceId }) =>
        Option.isNone(Option.flatMap(previous(sourceId), ({ fingerprint }) => fingerprint))
      )
    ).pipe(Effect.scoped)

  const unchanged = Effect.fnUntraced(function* (manifest: Manifest) {
    const found = yield* listOf(latestOf(manifest))
    const sources = Option.match(found, { onNone: () => [], onSome: ({ list }) => list.sources })
    return { changed: false, manifest, ...sumCounts(sources) } satisfies Fetched
  })

  /** What is on disk under the id of the version; it fails where that is something else. */
  const findOnDisk = Effect.fnUntraced(function* (version: HubVersion) {
    const { versionId } = version.manifest
    const found = yield* listOf(versionId)
    if (Option.exists(found, ({ sha256 }) => sha256 !== version.filesSha256)) {
      return yield* hub.failed(
        `version ${versionId} is on this disk with other files, and versions never change. If the hub is right, remove ${folderOf(versionId)}`,
        { isTransient: false }
      )
    }
    return Option.map(found, ({ list }) => list)
  })

  /** One that is on disk, but not whole, is copied again. */
  const activateOrCopy = (onDisk: Option.Option<FileList>, copy: ReturnType<typeof copies.latest>) =>
    Option.match(onDisk, {
      onNone: () => copy,
      onSome: (list) =>
        Effect.matchEffect(store.activate(list.versionId), {
          onFailure: () => copy,
          onSuccess: (manifest) => Effect.succeed({ changed: true, manifest, ...sumCounts(list.sources) })
        })
    })

  const latest = Effect.fnUntraced(function* (version: HubVersion, isWanted: IsWanted) {
    const { versionId } = version.manifest
    const reading = yield* store.manifest
    const before = reading.status === "ok" ? reading.manifest : undefined
    const onDisk = yield* findOnDisk(version)
    const copy = copies.latest(hub, version, isWanted)
    if (before === undefined || !isLatestOf(before, version)) {
      const taken = yield* activateOrCopy(onDisk, copy)
      if (before !== undefined && versionId < latestOf(before)) {
        yield* Effect.logInfo(`The hub went back from version ${latestOf(before)} to ${versionId}`)
      }
      return taken
    }
    if (Option.isSome(onDisk) && !(yield* isDamaged(onDisk.value))) {
      return yield* unchanged(before)
    }
    yield* Effect.logWarning(`Files of version ${versionId} are missing or damaged: they are copied again.`)
    return { ...(yield* copy), changed: false }
  })

  return {
    /** Makes it the latest version. */
    latest,
    /** Copies a version that the hub will show, if it is not on disk. */
    ahead: (versionId: VersionId, isWanted: IsWanted) =>
      Effect.flatMap(listOf(versionId), (found) =>
        Option.isSome(found) ? Effect.void : copies.ahead(hub, versionId, isWanted)
      )
  }
})
