/**
 * Versions in a folder of this machine.
 */
import { randomUUID } from "node:crypto"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Clock from "effect/Clock"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { issueText, placedIssues } from "../../services/ParseIssues.ts"
import {
  type DownloadsInUse,
  InvalidConsumerId,
  Manifest,
  type ManifestReading,
  type StagedVersion,
  VersionId,
  VersionNotFound,
  VersionSource,
  VersionStore,
  type VersionStoreError
} from "../../services/VersionStore.ts"
import { isPlainFileName } from "../FileName.ts"
import { explained, isNotFound } from "./diskError.ts"
import { replaceFile, syncDirectory, syncTree } from "./durable.ts"
import { lockFolder } from "./folderLock.ts"
import * as leases from "./leases.ts"
import { dispensable } from "./retention.ts"
import { nextVersionId } from "./versionId.ts"

export interface Settings {
  /** The downloads folder; made where it is missing. */
  readonly directory: string
  readonly keepVersions: number
  readonly ackLease: Duration.DurationInput
}

/** The versions in a folder, which is this controller's alone as long as the layer lives. */
export const layer = (
  settings: Settings
): Layer.Layer<VersionStore, VersionStoreError | DownloadsInUse, FileSystem.FileSystem | Path.Path> =>
  Layer.scoped(VersionStore, make(settings))

const make = Effect.fn("VersionStoreDisk.make")(function* (settings: Settings) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const platform = yield* Effect.context<FileSystem.FileSystem | Path.Path>()

  const root = settings.directory
  const manifestFile = path.join(root, "manifest.json")
  const versionsFolder = path.join(root, "versions")
  const acksFolder = path.join(root, "acks")
  const stagingFolder = path.join(root, ".staging")
  const folderOf = (versionId: VersionId) => path.join(versionsFolder, versionId)

  yield* fs.makeDirectory(root, { recursive: true }).pipe(explained("make", root))
  for (const folder of [versionsFolder, acksFolder, stagingFolder]) {
    yield* makeFolder(folder)
  }
  yield* lockFolder(yield* fs.realPath(root).pipe(explained("read", root)))
  for (const leftover of yield* fs.readDirectory(stagingFolder).pipe(explained("read", stagingFolder))) {
    yield* removeTree(path.join(stagingFolder, leftover))
  }

  const manifest: Effect.Effect<ManifestReading, VersionStoreError> = Effect.gen(function* () {
    const text = yield* readIfThere(manifestFile)
    if (Option.isNone(text)) {
      return { status: "missing" as const }
    }
    const decoded = Schema.decodeEither(ManifestJson)(text.value)
    if (Either.isLeft(decoded)) {
      return {
        status: "invalid" as const,
        message: `${manifestFile} is no manifest: ${issueText(placedIssues(decoded.left))}`
      }
    }
    return (yield* exists(decoded.right.versionId))
      ? { status: "ok" as const, manifest: decoded.right }
      : {
          status: "invalid" as const,
          message: `${manifestFile} names a version that is not on disk: ${decoded.right.versionId}`
        }
  }).pipe(Effect.provide(platform))

  const active = Effect.map(manifest, (reading) =>
    reading.status === "ok" ? Option.some(reading.manifest) : Option.none()
  )

  const exists = (versionId: VersionId) =>
    fs.exists(folderOf(versionId)).pipe(explained("read", versionsFolder))

  const versionIds = fs.readDirectory(versionsFolder).pipe(
    Effect.map((names) => names.filter(isVersionId).sort()),
    explained("read", versionsFolder)
  )

  const freshLeases = leases.readFresh(acksFolder, settings.ackLease).pipe(Effect.provide(platform))

  const makeStagingFolder = Effect.suspend(() => {
    const folder = path.join(stagingFolder, randomUUID())
    return fs.makeDirectory(folder).pipe(Effect.as(folder), explained("make", folder))
  })

  const stage = Effect.acquireRelease(makeStagingFolder, (folder) =>
    Effect.ignoreLogged(removeTree(folder)).pipe(Effect.provide(platform))
  ).pipe(
    Effect.map(
      (folder): StagedVersion => ({
        sourceDirectory: (sourceId) => {
          const directory = path.join(folder, sourceId)
          return fs.makeDirectory(directory).pipe(Effect.as(directory), explained("make", directory))
        },
        promote: (sources) =>
          Effect.gen(function* () {
            const current = yield* active
            if (
              Option.isSome(current) &&
              isSame(sources, yield* readRecord(folderOf(current.value.versionId)))
            ) {
              return { changed: false, manifest: current.value }
            }
            return { changed: true, manifest: yield* publish(folder, sources) }
          }).pipe(Effect.provide(platform))
      })
    )
  )

  /** Makes the staged folder durable, a version, and the one that the manifest names, in this order. */
  const publish = Effect.fnUntraced(function* (folder: string, sources: ReadonlyArray<VersionSource>) {
    const now = yield* Clock.currentTimeMillis
    const versionId = nextVersionId(now, yield* versionIds)
    const manifest: Manifest = {
      schemaVersion: 1,
      versionId,
      versionPath: `versions/${versionId}`,
      generatedAt: new Date(now).toISOString(),
      sources: sources.map(({ sourceId }) => ({ sourceId, path: sourceId }))
    }
    yield* fs
      .writeFileString(path.join(folder, recordName), JSON.stringify({ sources }))
      .pipe(Effect.zipRight(syncTree(folder)), explained("write to", folder))
    yield* Effect.gen(function* () {
      yield* fs.rename(folder, folderOf(versionId)).pipe(explained("write to", versionsFolder))
      yield* syncDirectory(versionsFolder)
      yield* replaceFile(manifestFile, JSON.stringify(manifest, null, 2), stagingFolder).pipe(
        explained("write", manifestFile),
        Effect.onError(() => Effect.ignore(fs.rename(folderOf(versionId), folder)))
      )
    }).pipe(Effect.uninterruptible)
    return manifest
  })

  const acknowledge = Effect.fn("VersionStore.acknowledge")(function* (
    consumerId: string,
    versionId: string
  ) {
    if (!isPlainFileName(consumerId)) {
      return yield* new InvalidConsumerId({ consumerId })
    }
    if (!isVersionId(versionId) || !(yield* exists(versionId))) {
      return yield* new VersionNotFound({ versionId })
    }
    yield* leases.take(acksFolder, { consumerId, versionId }, stagingFolder)
  }, Effect.provide(platform))

  const versions = Effect.gen(function* () {
    const current = yield* active
    const held = yield* freshLeases
    return (yield* versionIds).map((versionId) => ({
      versionId,
      active: Option.exists(current, (manifest) => manifest.versionId === versionId),
      consumers: held.filter((lease) => lease.versionId === versionId).map(({ consumerId }) => consumerId)
    }))
  })

  const sweep = Effect.gen(function* () {
    const removed = yield* Effect.filter(
      dispensable(yield* versions, settings.keepVersions),
      ({ versionId }) =>
        discard(versionId).pipe(
          Effect.as(true),
          Effect.catchAll((error) =>
            Effect.as(Effect.logWarning(`${error.message} It is tried again after the next fetch.`), false)
          )
        )
    )
    return removed.map(({ versionId }) => versionId)
  })

  /** Out of the versions in one step, so that no half of it is ever seen there. */
  const discard = Effect.fnUntraced(function* (versionId: VersionId) {
    const folder = folderOf(versionId)
    const discarded = path.join(stagingFolder, `discarded-${versionId}`)
    yield* removeTree(discarded)
    yield* fs.rename(folder, discarded).pipe(explained("remove", folder))
    yield* removeTree(discarded)
  }, Effect.provide(platform))

  return VersionStore.of({ manifest, stage, acknowledge, versions, sweep })
})

/** Lies in the folder of a version and says what the version was made of. */
const recordName = ".version.json"

const VersionRecord = Schema.parseJson(Schema.Struct({ sources: Schema.Array(VersionSource) }))
const ManifestJson = Schema.parseJson(Manifest)

const isVersionId = Schema.is(VersionId)
const isSame = Schema.equivalence(Schema.Array(VersionSource))

const readIfThere = (file: string) =>
  FileSystem.FileSystem.pipe(
    Effect.flatMap((fs) => fs.readFileString(file)),
    Effect.asSome,
    Effect.catchIf(isNotFound, () => Effect.succeedNone),
    explained("read", file)
  )

/** What a version was made of; nothing where it does not say. */
const readRecord = (versionFolder: string) =>
  FileSystem.FileSystem.pipe(
    Effect.flatMap((fs) => fs.readFileString(`${versionFolder}/${recordName}`)),
    Effect.flatMap(Schema.decode(VersionRecord)),
    Effect.map(({ sources }) => sources),
    Effect.orElseSucceed((): ReadonlyArray<VersionSource> => [])
  )

/** Not recursively: on a disk that is read-only, that would say that the folder above is missing. */
const makeFolder = (folder: string) =>
  FileSystem.FileSystem.pipe(
    Effect.flatMap((fs) => Effect.unlessEffect(fs.makeDirectory(folder), fs.exists(folder))),
    explained("make", folder)
  )

const removeTree = (folder: string) =>
  FileSystem.FileSystem.pipe(
    Effect.flatMap((fs) => fs.remove(folder, { recursive: true, force: true })),
    explained("remove", folder)
  )
