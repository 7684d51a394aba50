/**
 * Copies of versions of another controller that are being put together: what is on disk is taken over by its
 * content.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { linkOrCopy } from "../../internal/reuseFile.ts"
import { isDiskFull } from "../../internal/systemError.ts"
import { withoutParentSpan } from "../../internal/withoutParentSpan.ts"
import { type FileList, fileListName, filesOf, pathsOfContents } from "../../services/FileList.ts"
import type { CopiedFile, StagedCopy, VersionCopy, VersionStoreError } from "../../services/VersionStore.ts"
import { readCopy } from "./copies.ts"
import { mapDiskError } from "./diskError.ts"
import type { Entries } from "./durable.ts"
import { findAll, foldersOf, removeOthers, type Takeover } from "./folderEntries.ts"
import type { StagingStore } from "./staging.ts"

/** A file that some version has. */
interface KnownFile extends Takeover {
  readonly file: CopiedFile
  /** In the folder of the version, with forward slashes. */
  readonly name: string
}

/** The absolute path of a file with this digest, where some version has one. */
type FileOfContent = (sha256: string) => Option.Option<string>

export const makeStageCopy = Effect.fnUntraced(function* (store: Omit<StagingStore, "latest" | "publish">) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const platform = yield* withoutParentSpan(Effect.context<FileSystem.FileSystem | Path.Path>())

  const stagedCopy = (
    folder: string,
    fileOfContent: Effect.Effect<FileOfContent, VersionStoreError>
  ): StagedCopy => {
    const directoryOf = (sourceId: string) => path.join(folder, sourceId)
    const directories = new Set<string>()
    /** The sizes of what was linked, by paths with forward slashes: it needs neither be looked at nor made durable again. */
    const linked = new Map<string, number>()
    /** Of the spare folder, where that was used: the files that stay, and the folders out of which something was removed. */
    const kept = new Set<string>()
    let touched = Option.none<ReadonlySet<string>>()

    const makeDirectory = (directory: string) =>
      directories.has(directory)
        ? Effect.void
        : Effect.map(fs.makeDirectory(directory, { recursive: true }), () => {
            directories.add(directory)
          })

    /** Brings the spare folder here, with those of its files that are wanted. Without it, all is linked. */
    const useSpare = Effect.fnUntraced(function* (files: ReadonlyArray<KnownFile>) {
      const spare = yield* store.takeSpare
      if (Option.isNone(spare)) {
        return
      }
      const wanted = new Map(
        files
          .filter(({ file, name }) => spare.value.files.get(name)?.sha256 === file.sha256)
          .map(({ file, name }) => [name, file])
      )
      yield* Effect.gen(function* () {
        const removed = yield* removeOthers(spare.value.folder, wanted)
        yield* fs.remove(folder, { recursive: true })
        yield* fs.rename(spare.value.folder, folder)
        touched = Option.some(new Set([...spare.value.touched, ...removed]))
        for (const below of foldersOf(wanted.keys())) directories.add(path.join(folder, below))
      }).pipe(
        Effect.catchAll(() =>
          Effect.zipRight(
            store.removeFolder(spare.value.folder),
            fs.makeDirectory(folder, { recursive: true })
          )
        )
      )
    }, Effect.uninterruptible)

    /** What is in the spare folder under the name of another file is one of other versions, too: it must not be written on. */
    const makeWay = ({ to }: KnownFile) =>
      Option.isSome(touched) ? fs.remove(to, { force: true }) : Effect.void

    const takeOver = ({ file, from, name, to }: KnownFile) =>
      makeDirectory(path.dirname(to)).pipe(
        Effect.zipRight(linkOrCopy(from, to)),
        Effect.map((isLink) => {
          if (isLink) linked.set(name, file.size)
          return true
        }),
        Effect.catchIf(
          (error) => !isDiskFull(error),
          () => Effect.succeed(false)
        )
      )

    const reuse = Effect.fnUntraced(
      function* (files: ReadonlyArray<CopiedFile>, fileOf: FileOfContent) {
        const known = Array.filterMap(files, (file) =>
          Option.map(fileOf(file.sha256), (from): KnownFile => {
            const name = `${file.sourceId}/${file.path}`
            return { file, from, name, size: file.size, to: `${folder}/${name}` }
          })
        )
        if (directories.size === 0 && linked.size === 0) {
          yield* useSpare(known)
        }
        const taken = new Set<CopiedFile>()
        for (const [takeover, found] of Array.zip(known, yield* findAll(known))) {
          if (found === "there") {
            linked.set(takeover.name, takeover.size)
            kept.add(takeover.name)
            taken.add(takeover.file)
            continue
          }
          yield* makeWay(takeover)
          if (found === "elsewhere" && (yield* takeOver(takeover))) {
            taken.add(takeover.file)
          }
        }
        return files.filter((file) => !taken.has(file))
      },
      mapDiskError("write to", folder)
    )

    /** Files and folders that are still to be made durable. */
    const fresh = (list: FileList): Entries => {
      const files = [...filesOf(list).keys()]
      const folders = foldersOf(files)
      for (const { sourceId } of list.sources) folders.add(sourceId)
      const changed = foldersOf(files.filter((name) => !kept.has(name)))
      const before = foldersOf(kept)
      const isFresh = (name: string) =>
        changed.has(name) || !before.has(name) || Option.exists(touched, (touched) => touched.has(name))
      folders.delete("")
      return { files: files.filter((name) => !linked.has(name)), folders: [...folders].filter(isFresh) }
    }

    const promote = (copy: VersionCopy) =>
      readCopy(folder, copy, linked).pipe(
        // A source may have no files.
        Effect.tap(({ list }) =>
          Effect.forEach(list.sources, ({ sourceId }) => makeDirectory(directoryOf(sourceId))).pipe(
            mapDiskError("write to", folder)
          )
        ),
        Effect.flatMap((list) => store.publishCopy(folder, list, fresh(list.list))),
        Effect.tap(() => store.damage.forget(copy.manifest.versionId)),
        Effect.map((manifest) => ({ changed: true, manifest }))
      )

    return {
      sourceDirectory: (sourceId) => {
        const directory = directoryOf(sourceId)
        return makeDirectory(directory).pipe(Effect.as(directory), mapDiskError("make", directory))
      },
      reuse: (files) =>
        Effect.flatMap(fileOfContent, (fileOf) => reuse(files, fileOf)).pipe(Effect.provide(platform)),
      promote: (copy) => promote(copy).pipe(store.inTurn, Effect.provide(platform))
    }
  }

  const folder = Effect.acquireRelease(Effect.provide(store.makeFolder, platform), store.removeFolder)

  /**
   * Finds a file of a content, in the newest version that has it; lists are read once for a staged version. A content that is
   * damaged in one version is not reused: in another one it may be the same file under another name.
   */
  const fileOfContent = Effect.cached(
    Effect.map(Effect.provide(store.versions, platform), (versions): FileOfContent => {
      const damaged = (list: FileList) => store.damage.of(list.versionId)
      const usable = versions.filter(({ list }) => !damaged(list).has(fileListName))
      const damagedContents = new Set(
        usable.flatMap(({ list }) =>
          Array.filterMap([...damaged(list)], (file) =>
            Option.map(Option.fromNullable(filesOf(list).get(file)), ({ sha256 }) => sha256)
          )
        )
      )
      return (sha256) =>
        Array.findFirst(damagedContents.has(sha256) ? [] : usable, ({ folder, list }) =>
          Option.map(Option.fromNullable(pathsOfContents(list).get(sha256)), (file) => `${folder}/${file}`)
        )
    })
  )

  return Effect.map(Effect.all([folder, fileOfContent]), (parts) => stagedCopy(...parts))
})
