/**
 * Reads a whole version, and compares it with its list of files.
 */
import { join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { fileListName } from "../../files/FileList.ts"
import { entriesIn } from "../../files/fileBatch.ts"
import { sha256OfFile } from "../../files/sha256.ts"
import { mapDiskError, orWhereMissing } from "../../files/versionStoreError.ts"
import type { SourceFile } from "../../services/ContentSource.ts"
import type { FileProblem, Verification } from "../../services/VersionStore.ts"
import { noneActive } from "./Hold.ts"
import { ManifestFile } from "./ManifestFile.ts"
import { keep } from "./Retention.ts"
import { VersionFolders } from "./VersionFolders.ts"

/** How many files are read concurrently. A low number leaves the disk and the thread pool to other work. */
const concurrency = 2

/** Reads all files of a version, by default the active one, and keeps it from being swept meanwhile. */
export const verify = Effect.fn("VersionStore.verify")(function* (given?: string) {
  const folder = yield* VersionFolders
  const active = yield* (yield* ManifestFile).active
  const versionId =
    given !== undefined
      ? yield* folder.find(given)
      : Option.isSome(active)
        ? active.value.versionId
        : yield* noneActive("verify the version of")
  const version = folder.ofVersion(versionId)
  const list = yield* folder.listOf(versionId)
  const files = Option.match(list, { onNone: () => noFiles, onSome: ({ files }) => files })
  const listed = active.pipe(
    Option.filter((manifest) => manifest.versionId === versionId),
    Option.flatMapNullable(({ filesSha256 }) => filesSha256)
  )
  const problems: ReadonlyArray<FileProblem> = Option.isNone(list)
    ? [{ path: fileListName, problem: (yield* hasList(version)) ? "content" : "missing" }]
    : [
        ...(Option.exists(listed, (sha256) => sha256 !== list.value.sha256)
          ? [{ path: fileListName, problem: "content" } as const]
          : []),
        ...(yield* problemsOf(version, files, keep(versionId))),
        ...(yield* unexpectedIn(version, files))
      ]
  yield* folder.noteDamage(
    versionId,
    problems.map(({ path }) => path)
  )
  const bytes = [...files.values()].reduce((sum, { size }) => sum + size, 0)
  return { versionId, files: files.size, bytes, problems } satisfies Verification
})

type Files = ReadonlyMap<string, SourceFile>

const noFiles: Files = new Map()

const hasList = (version: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Effect.orElseSucceed(fs.exists(join(version, fileListName)), () => true)
  )

/** The problems of listed files. `beforeEach` runs before each file is read. */
const problemsOf = Effect.fnUntraced(function* <E, R>(
  version: string,
  files: Files,
  beforeEach: Effect.Effect<void, E, R>
) {
  const fs = yield* FileSystem.FileSystem

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

  const problems = yield* Effect.forEach(
    files,
    ([name, file]) =>
      Effect.zipRight(beforeEach, check(join(version, name), file)).pipe(
        Effect.map((problem) => (problem === undefined ? [] : [{ path: name, problem }]))
      ),
    { concurrency }
  )
  return problems.flat()
})

/** Files that are not in the list. */
const unexpectedIn = Effect.fnUntraced(function* (version: string, files: Files) {
  const entries = yield* entriesIn(version).pipe(mapDiskError("read", version))
  return entries
    .filter(({ isDirectory, path }) => !isDirectory && path !== fileListName && !files.has(path))
    .map(({ path }) => ({ path, problem: "unexpected" }) as const)
})
