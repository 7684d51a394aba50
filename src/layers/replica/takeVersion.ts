/**
 * Makes the version of a hub the latest version here: keeps it if it is the latest already, activates it if it is on
 * disk, or else copies it. Also copies the version that waits at the hub for the end of a hold.
 */
import { join } from "node:path"
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { FileList } from "../../files/FileList.ts"
import { withoutParentSpan } from "../../internal/background.ts"
import { sumCounts } from "../../internal/contentCounts.ts"
import { type Manifest, type VersionId, VersionStore } from "../../services/VersionStore.ts"
import type { Fetched, Report } from "../fetching/Provider.ts"
import { latestOf } from "../versions/ManifestFile.ts"
import { listOf, pathOf } from "../versions/VersionFolders.ts"
import { type IsWanted, makeCopyVersion } from "./copyVersion.ts"
import { type Hub, type HubVersion, isLatestOf, isOf } from "./Hub.ts"

/** Gives functions that take versions of the hub. */
export const makeTakeVersion = Effect.fnUntraced(function* (
  hub: Hub,
  report: Report,
  pollEvery: Duration.DurationInput
) {
  const store = yield* VersionStore
  const services = yield* withoutParentSpan(Effect.context<VersionStore | FileSystem.FileSystem>())
  const copies = yield* makeCopyVersion(hub, report, pollEvery)
  const findList = (versionId: VersionId) => Effect.provide(listOf(versionId), services)

  /** Whether files of the latest version are known to be missing or changed. */
  const isDamaged = ({ sources }: FileList) =>
    Effect.map(store.stage, ({ previous }) =>
      sources.some(({ sourceId }) =>
        Option.isNone(Option.flatMap(previous(sourceId), ({ fingerprint }) => fingerprint))
      )
    ).pipe(Effect.scoped)

  const unchanged = Effect.fnUntraced(function* (manifest: Manifest) {
    const found = yield* findList(latestOf(manifest))
    const sources = Option.match(found, { onNone: () => [], onSome: ({ list }) => list.sources })
    return { changed: false, manifest, ...sumCounts(sources) } satisfies Fetched
  })

  /**
   * The list of the version's files if the version is on disk and the list is undamaged. Fails if another version has
   * the same id.
   */
  const findOnDisk = Effect.fnUntraced(function* (version: HubVersion, active: Manifest | undefined) {
    const { versionId } = version.manifest
    const found = yield* findList(versionId)
    if (Option.exists(found, ({ sha256 }) => sha256 !== version.filesSha256)) {
      if (active !== undefined && isOf(active, version)) return Option.none()
      return yield* hub.failed(
        `version ${versionId} is on this disk with other files, and versions never change. If the hub is right, remove ${join(store.directory, pathOf(versionId))}`,
        { isTransient: false }
      )
    }
    return Option.map(found, ({ list }) => list)
  })

  /** If the version on disk is incomplete, it is copied again. */
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
    const current = yield* store.manifest
    const before = current.status === "ok" ? current.manifest : undefined
    const onDisk = yield* findOnDisk(version, before)
    const copy = copies.latest(version, isWanted)
    if (before === undefined || !isLatestOf(before, version)) {
      const fetched = yield* activateOrCopy(onDisk, copy)
      if (before !== undefined && versionId < latestOf(before)) {
        yield* Effect.logInfo(`The hub went back from version ${latestOf(before)} to ${versionId}`)
      }
      return fetched
    }
    if (Option.isSome(onDisk) && !(yield* isDamaged(onDisk.value))) {
      return yield* unchanged(before)
    }
    yield* Effect.logWarning(`Files of version ${versionId} are missing or damaged: they are copied again.`)
    return { ...(yield* copy), changed: false }
  })

  return {
    /** Makes the version the latest one. */
    latest,
    /** Copies a version that the hub will activate later, if it is not on disk. */
    ahead: (versionId: VersionId, isWanted: IsWanted) =>
      Effect.flatMap(findList(versionId), (found) =>
        Option.isSome(found) ? Effect.void : copies.ahead(versionId, isWanted)
      )
  }
})
