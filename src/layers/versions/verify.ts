/**
 * Reading a whole version, and comparing it with its list of files.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { sha256OfFile } from "../../internal/sha256.ts"
import type { SourceFile } from "../../services/ContentSource.ts"
import { fileListName, filesOf } from "../../services/FileList.ts"
import type {
  FileProblem,
  Verification,
  VersionId,
  VersionNotFound,
  VersionStoreError
} from "../../services/VersionStore.ts"
import type { DownloadsFolder } from "./DownloadsFolder.ts"
import { mapDiskError, orWhereMissing } from "./diskError.ts"
import type { WrittenList } from "./fileLists.ts"
import { noneActive } from "./hold.ts"
import type { ManifestFile } from "./ManifestFile.ts"

/** How many files are read concurrently: other work is to have the disk and its threads too. */
const concurrency = 2

/**
 * Files of versions that are not what they were, as far as that was found out. It is forgotten with the process. There is one
 * entry for each version on disk at most.
 */
export interface Damage extends ReturnType<typeof makeDamage> {}

export const makeDamage = () => {
  const known = new Map<VersionId, ReadonlySet<string>>()
  return {
    /** The paths of the files in the folder of the version. */
    of: (versionId: VersionId) => known.get(versionId) ?? none,
    /** In the place of what was known before. */
    set: (versionId: VersionId, files: Iterable<string>) => {
      known.set(versionId, new Set(files))
    },
    forget: (versionId: VersionId) => {
      known.delete(versionId)
    }
  }
}

const none: ReadonlySet<string> = new Set()

interface FoundVersion {
  readonly versionId: VersionId
  readonly folder: string
  /** Missing where it cannot be read. */
  readonly list: Option.Option<WrittenList>
  /** The digest of the list, where the manifest says it. */
  readonly listSha256: Option.Option<string>
}

type Failure = VersionNotFound | VersionStoreError
type Platform = FileSystem.FileSystem | Path.Path

/** Verifies one version at a time, the active one if none is given. `keep` is run before each of its files is read. */
export const makeVerify = Effect.fnUntraced(function* (
  folder: DownloadsFolder,
  manifestFile: ManifestFile,
  damage: Damage,
  keep: (versionId: string) => Effect.Effect<void, Failure, Platform>
) {
  const verifying = yield* Effect.makeSemaphore(1)

  const find = Effect.fnUntraced(function* (given: string | undefined) {
    const active = yield* manifestFile.active
    const versionId =
      given !== undefined
        ? yield* folder.find(given)
        : Option.isSome(active)
          ? active.value.versionId
          : yield* noneActive("verify the version of", folder.manifest)
    const isActive = Option.filter(active, (manifest) => manifest.versionId === versionId)
    return {
      versionId,
      folder: folder.ofVersion(versionId),
      list: yield* folder.listOf(versionId),
      listSha256: Option.flatMapNullable(isActive, ({ filesSha256 }) => filesSha256)
    } satisfies FoundVersion
  })

  return Effect.fn("VersionStore.verify")(function* (given?: string) {
    const version = yield* find(given)
    const verification = yield* verifyFiles(version, keep(version.versionId))
    damage.set(
      version.versionId,
      verification.problems.map(({ path }) => path)
    )
    return verification
  }, verifying.withPermits(1))
})

/** `beforeEach` runs before a file is read. */
const verifyFiles = Effect.fnUntraced(function* (
  { folder, list, listSha256, versionId }: FoundVersion,
  beforeEach: Effect.Effect<void, Failure, Platform>
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path

  /** What is wrong with a file that is listed. */
  const check = Effect.fnUntraced(
    function* (file: string, { sha256, size }: SourceFile) {
      const stats = yield* fs.stat(file)
      if (stats.type !== "File") return "missing"
      if (Number(stats.size) !== size) return "size"
      return (yield* sha256OfFile(file)) === sha256 ? undefined : "content"
    },
    (effect) =>
      effect.pipe(
        orWhereMissing<FileProblem["problem"] | undefined>("missing"),
        Effect.orElseSucceed((): FileProblem["problem"] => "unreadable")
      )
  )

  if (Option.isNone(list)) {
    const isThere = yield* Effect.orElseSucceed(fs.exists(path.join(folder, fileListName)), () => true)
    const problem = isThere ? "content" : "missing"
    return {
      versionId,
      files: 0,
      bytes: 0,
      problems: [{ path: fileListName, problem }]
    } satisfies Verification
  }
  const files = filesOf(list.value.list)
  const listed = new Set(files.keys())

  const ofFiles = yield* Effect.forEach(
    files,
    ([name, file]) =>
      Effect.zipRight(beforeEach, check(path.join(folder, name), file)).pipe(
        Effect.map((problem) => (problem === undefined ? [] : [{ path: name, problem }]))
      ),
    { concurrency }
  )

  const entries = yield* fs.readDirectory(folder, { recursive: true }).pipe(mapDiskError("read", folder))
  const unlisted = entries
    .map((entry) => entry.replaceAll(path.sep, "/"))
    .filter((entry) => entry !== fileListName && !listed.has(entry))
  const unexpected = yield* Effect.filter(
    unlisted,
    (entry) =>
      fs.stat(path.join(folder, entry)).pipe(
        Effect.map(({ type }) => type !== "Directory"),
        Effect.orElseSucceed(() => true)
      ),
    { concurrency }
  )

  const isOtherList = Option.exists(listSha256, (sha256) => sha256 !== list.value.sha256)
  const problems: ReadonlyArray<FileProblem> = [
    ...(isOtherList ? [{ path: fileListName, problem: "content" } as const] : []),
    ...Array.flatten(ofFiles),
    ...unexpected.map((path) => ({ path, problem: "unexpected" }) as const)
  ]
  const bytes = [...files.values()].reduce((sum, { size }) => sum + size, 0)
  return { versionId, files: files.size, bytes, problems } satisfies Verification
})
