/**
 * The downloads folder: where in it is what, and which versions are there.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { makePath } from "../../internal/makePath.ts"
import { VersionId } from "../../services/VersionStore.ts"
import { mapDiskError, orWhereMissing } from "./diskError.ts"
import { syncDirectory } from "./durable.ts"

export interface DownloadsFolder extends Effect.Effect.Success<ReturnType<typeof make>> {}

export const isVersionId = Schema.is(VersionId)

/** The path of a version in the manifest. */
export const pathOf = (versionId: VersionId) => `versions/${versionId}`

/** Nothing is made yet: that is `makeFolders`. */
export const make = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  const root = path.resolve(directory)
  const versions = path.join(root, "versions")
  const acks = path.join(root, "acks")
  const staging = path.join(root, ".staging")
  const reserve = path.join(root, ".reserve")
  const ofVersion = (versionId: VersionId) => path.join(versions, versionId)

  const namesIn = (folder: string) =>
    fs.readDirectory(folder).pipe(orWhereMissing<ReadonlyArray<string>>([]), mapDiskError("read", folder))

  /** Not recursively: on a disk that is read-only, that would say that the folder above is missing. */
  const makeFolder = (folder: string) =>
    Effect.unlessEffect(fs.makeDirectory(folder), fs.exists(folder)).pipe(mapDiskError("make", folder))

  const makeRoot = makePath(root).pipe(mapDiskError("make", root))

  return {
    root,
    versions,
    acks,
    staging,
    reserve,
    ofVersion,
    manifest: path.join(root, "manifest.json"),
    namesIn,
    makeRoot,

    /** Somebody may have removed them since the start. */
    makeFolders: makeRoot.pipe(
      Effect.zipRight(Effect.forEach([versions, acks, staging], makeFolder)),
      Effect.zipRight(syncDirectory(root).pipe(mapDiskError("write to", root)))
    ),

    /** The versions on disk, the oldest first. */
    versionIds: Effect.map(namesIn(versions), (names) => names.filter(isVersionId).sort()),

    hasVersion: (versionId: VersionId) =>
      fs.exists(ofVersion(versionId)).pipe(mapDiskError("read", versions)),

    /** Whether the folders of all sources are in the version. */
    isWhole: (versionId: VersionId, sources: ReadonlyArray<{ readonly sourceId: string }>) =>
      Effect.every(sources, ({ sourceId }) => fs.exists(path.join(ofVersion(versionId), sourceId))).pipe(
        mapDiskError("read", ofVersion(versionId))
      )
  }
})

/** The content of a file; none where it is not there. */
export const readIfThere = (file: string) =>
  FileSystem.FileSystem.pipe(
    Effect.flatMap((fs) => fs.readFileString(file)),
    Effect.asSome,
    orWhereMissing(Option.none<string>()),
    mapDiskError("read", file)
  )
