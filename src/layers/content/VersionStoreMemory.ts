/**
 * A store of versions for tests: what is known of them is in memory, their files are in a temporary folder that is removed
 * with the scope. Nothing is durable, nothing is locked, and the leases are not bounded.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { isPlainFileName } from "../../internal/FileName.ts"
import type { InvalidOptions } from "../../internal/Options.ts"
import {
  InvalidConsumerId,
  type Lease,
  type Manifest,
  type ManifestReading,
  type VersionId,
  VersionNotFound,
  type VersionOverview,
  type VersionSource,
  VersionStore,
  type VersionStoreError
} from "../../services/VersionStore.ts"
import { decodeVersionStoreMemory, type VersionStoreMemoryConfig } from "./ContentOptions.ts"
import { mapDiskError } from "./diskError.ts"
import { expired } from "./retention.ts"
import { makeStage } from "./staging.ts"
import { nextVersionId } from "./versionId.ts"
import { type RecordedSource, recordSources } from "./versionRecord.ts"

interface Version {
  readonly manifest: Manifest
  readonly sources: ReadonlyArray<RecordedSource>
}

export const layer = (
  config: VersionStoreMemoryConfig = {}
): Layer.Layer<VersionStore, InvalidOptions | VersionStoreError, FileSystem.FileSystem | Path.Path> =>
  Layer.scoped(VersionStore, make(config))

/** The same without a layer. */
export const make = Effect.fnUntraced(function* (config: VersionStoreMemoryConfig = {}) {
  const { ackLease, keepVersions } = yield* decodeVersionStoreMemory(config)
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = yield* fs
    .makeTempDirectoryScoped({ prefix: "vitrine-" })
    .pipe(mapDiskError("make", "a temporary folder"))
  /** The oldest first; the last is the active one. */
  let versions: ReadonlyArray<Version> = []
  const leases = new Map<string, Lease>()

  const active = () => Option.fromNullable(versions.at(-1))
  const folderOf = ({ versionPath }: Manifest) => path.join(root, versionPath)
  const remove = (folder: string) =>
    fs.remove(folder, { recursive: true, force: true }).pipe(mapDiskError("remove", folder))

  const manifest = Effect.sync(
    (): ManifestReading =>
      Option.match(active(), {
        onNone: () => ({ status: "missing" }),
        onSome: ({ manifest }) => ({ status: "ok", manifest })
      })
  )

  const publish = Effect.fnUntraced(function* (folder: string, sources: ReadonlyArray<VersionSource>) {
    const now = yield* Clock.currentTimeMillis
    const versionId = nextVersionId(
      now,
      versions.map(({ manifest }) => manifest.versionId)
    )
    const manifest: Manifest = {
      schemaVersion: 1,
      versionId,
      versionPath: `versions/${versionId}`,
      generatedAt: new Date(now).toISOString(),
      sources: sources.map(({ sourceId }) => ({ sourceId, path: sourceId }))
    }
    const target = folderOf(manifest)
    const recorded = yield* recordSources(folder, sources).pipe(mapDiskError("read", folder))
    yield* fs.makeDirectory(path.dirname(target), { recursive: true }).pipe(
      Effect.zipRight(fs.rename(folder, target)),
      mapDiskError("write to", root),
      Effect.tap(() => {
        versions = [...versions, { manifest, sources: recorded }]
      }),
      Effect.uninterruptible
    )
    return manifest
  })

  const stage = yield* makeStage({
    active: Effect.sync(() =>
      Option.map(active(), ({ manifest, sources }) => ({ manifest, folder: folderOf(manifest), sources }))
    ),
    makeFolder: fs.makeTempDirectory({ directory: root }).pipe(mapDiskError("write to", root)),
    removeFolder: (folder) => Effect.ignore(remove(folder)),
    publish
  })

  const overview = Effect.map(Clock.currentTimeMillis, (now): ReadonlyArray<VersionOverview> => {
    const fresh = [...leases.values()].filter(({ until }) => until >= now)
    return versions.map(({ manifest: { versionId } }, index) => ({
      versionId,
      active: index === versions.length - 1,
      leases: fresh.filter((lease) => lease.versionId === versionId)
    }))
  })

  const sweepDownTo = (keepVersions: number) =>
    Effect.flatMap(overview, (overviews) => {
      const removed = new Set<VersionId>(expired(overviews, keepVersions).map(({ versionId }) => versionId))
      const [gone, kept] = Array.partition(versions, ({ manifest }) => !removed.has(manifest.versionId))
      versions = kept
      return Effect.as(
        Effect.forEach(gone, ({ manifest }) => remove(folderOf(manifest)), { discard: true }),
        [...removed]
      )
    })

  const acknowledge = Effect.fnUntraced(function* (consumerId: string, versionId: string, problem?: string) {
    const version = versions.find(({ manifest }) => manifest.versionId === versionId)
    if (!isPlainFileName(consumerId)) {
      return yield* new InvalidConsumerId({ consumerId })
    }
    if (version === undefined) {
      return yield* new VersionNotFound({ versionId })
    }
    const until = (yield* Clock.currentTimeMillis) + Duration.toMillis(ackLease)
    leases.set(consumerId, {
      consumerId,
      versionId: version.manifest.versionId,
      until,
      ...(problem === undefined ? {} : { problem })
    })
  })

  return VersionStore.of({
    manifest,
    stage,
    acknowledge,
    versions: overview,
    sweep: sweepDownTo(keepVersions),
    makeRoom: sweepDownTo(0)
  })
})
