/**
 * The files that documents link to: reused from the last version, or downloaded.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as HashMap from "effect/HashMap"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Ref from "effect/Ref"
import { linkOrCopy } from "../../../files/reuseFile.ts"
import type { AttachmentProgress, FetchTarget, SourceFile } from "../../../services/ContentSource.ts"
import { filesAtOnce, makeDownloadCounter } from "../progress.ts"
import { sourceErrors } from "../sourceErrors.ts"
import { type FileProblem, notSaved, problemAt, sourceErrorOf, type WantedFile } from "./FileProblem.ts"
import { keyOf } from "./links.ts"
import * as MediaDownload from "./MediaDownload.ts"
import { adviceOnOthers, mayNameOthers } from "./mediaTypes.ts"

/** A file for the version. */
export interface MediaFile extends MediaDownload.FetchedFile {
  readonly key: string
  readonly wanted: WantedFile
}

export interface MediaTarget extends Pick<FetchTarget, "directory" | "previous"> {
  /** The index of the files of `previous`. */
  readonly index: MediaDownload.MediaIndex
  readonly progress: (latest: WantedFile, progress: AttachmentProgress) => Effect.Effect<void>
}

/** The result for a file: the file or the problem, or both if the file of the last version is kept. */
interface Outcome {
  readonly file: Option.Option<MediaFile>
  readonly problem: Option.Option<FileProblem>
}

export const make = Effect.fnUntraced(function* (options: MediaDownload.Options, maxTimeout: number) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { download, makeFolderFor } = yield* MediaDownload.make(options, maxTimeout)

  const fetchAll = Effect.fn("Files.fetch")(
    function* (files: ReadonlyArray<WantedFile>, { directory, index, previous, progress }: MediaTarget) {
      const failures = yield* Ref.make(HashMap.empty<string, Failures>())
      const found = files.map((wanted) => {
        const key = keyOf(wanted.identity)
        const before = Option.flatMap(previous, ({ files }) => fileBefore(wanted, key, index, files))
        return { key, wanted, before, proven: Option.filter(before, (before) => isProven(wanted, before)) }
      })
      const proven = found.flatMap(({ proven }) => Option.toArray(proven))
      const counter = yield* makeDownloadCounter<WantedFile>(
        files.length,
        { done: proven.length, bytes: sizeOf(proven) },
        progress
      )
      yield* Effect.forEach(files.slice(0, 1), counter.report)

      const fetchFile = (
        key: string,
        wanted: WantedFile,
        before: Option.Option<MediaDownload.RememberedFile>
      ) => download({ key, wanted, before, directory, onBytes: counter.onBytes(wanted) })

      const fetchOrKeep = ({ before, key, proven, wanted }: (typeof found)[number]) => {
        const outcome = (file: MediaDownload.FetchedFile): Outcome => ({
          file: Option.some({ ...file, key, wanted }),
          problem: Option.none()
        })
        if (Option.isSome(proven)) return Effect.succeed(outcome(MediaDownload.kept(proven.value)))
        return unlessUnreachable(failures, wanted, fetchFile(key, wanted, before)).pipe(
          Effect.map(outcome),
          Effect.catchIf(
            () => wanted.isOptional,
            (problem) =>
              Effect.succeed<Outcome>({
                // A temporary failure must not remove the file.
                file: Option.map(
                  Option.filter(before, () => problem.isTransient),
                  (before) => ({ ...MediaDownload.kept(before), key, wanted })
                ),
                problem: Option.some(problem)
              })
          ),
          Effect.tap(({ file }) =>
            Option.match(file, {
              onNone: () => Effect.void,
              onSome: ({ isKept, size }) =>
                isKept ? counter.fileKept(wanted, size) : counter.fileDone(wanted)
            })
          )
        )
      }

      const outcomes = yield* Effect.forEach(found, fetchOrKeep, { concurrency: filesAtOnce })
      const media = outcomes.flatMap(({ file }) => Option.toArray(file))

      /**
       * Warns about a file that refers to other files, which are not saved. Files larger than `maxText` are not read.
       */
      const findOthers = Effect.fnUntraced(function* ({ entry, isKept, size, wanted }: MediaFile) {
        const extension = path.extname(entry.path).slice(1).toLowerCase()
        if (!mayNameOthers(extension) || size > maxText) return []
        const folder = Option.match(previous, {
          onNone: () => directory,
          onSome: (content) => (isKept ? content.directory : directory)
        })
        const text = yield* Effect.orElseSucceed(
          fileSystem.readFileString(path.join(folder, entry.path)),
          () => ""
        )
        const advice = adviceOnOthers(extension, text)
        if (advice === undefined) return []
        const detail = `the other files are not saved, so it does not play offline. ${advice}, or save the files together with folderSource.`
        return [problemAt(wanted.place, { wrong: "others", file: entry.path, detail })]
      })
      const others = yield* Effect.forEach(media, findOthers)

      /** Reuses a file that is only in the last version. If it has vanished there, it is downloaded. */
      const takeOver = Effect.fnUntraced(function* (file: MediaFile) {
        if (!file.isKept) return file
        const { entry, key, wanted } = file
        const to = path.join(directory, entry.path)
        if (wanted.localPath !== undefined) yield* makeFolderFor(wanted, to)
        return yield* Effect.flatMap(previous, (previous) =>
          linkOrCopy(path.join(previous.directory, entry.path), to)
        ).pipe(
          Effect.as(file),
          Effect.orElse(() =>
            Effect.map(fetchFile(key, wanted, Option.none()), (fetched) => ({ ...file, ...fetched }))
          )
        )
      })

      return {
        media,
        /** Why optional files are missing or are kept from the last version, and which files refer to other files. */
        problems: [...outcomes.flatMap(({ problem }) => Option.toArray(problem)), ...others.flat()],
        /** Puts the reused files into this version. */
        takeOver: Effect.mapError(
          Effect.forEach(media, takeOver, { concurrency: filesAtOnce }),
          sourceErrorOf
        )
      }
    },
    (fetching) => sourceErrors(Effect.mapError(fetching, sourceErrorOf))
  )

  return { fetchAll }
})

/** In bytes. */
const maxText = 16 * 1024 ** 2

export const sizeOf = (files: ReadonlyArray<SourceFile>): number =>
  files.reduce((sum, { size }) => sum + size, 0)

/** The file in the last version. */
const fileBefore = (
  { localPath, size }: WantedFile,
  key: string,
  index: MediaDownload.MediaIndex,
  files: Readonly<Record<string, SourceFile>>
): Option.Option<MediaDownload.RememberedFile> =>
  localPath === undefined
    ? Option.flatMap(Record.get(index, key), (entry) =>
        Option.map(Record.get(files, entry.path), (file) => ({ ...entry, ...file }))
      )
    : Record.get(files, localPath).pipe(
        Option.filter((file) => size === undefined || file.size === size),
        Option.map((file) => ({ ...file, path: localPath }))
      )

/**
 * Whether no request is needed: the document proves that the file is unchanged, or states a size and the server sent
 * no tags.
 */
const isProven = ({ localPath, size, version }: WantedFile, before: MediaDownload.RememberedFile): boolean =>
  localPath !== undefined ||
  (version !== undefined
    ? version === before.version
    : size === before.size && (before.etag ?? before.lastModified) === undefined)

/** Failures of a server in a row. */
interface Failures {
  readonly count: number
  readonly detail: string
}

/** The most failures of a server in a row, each after all retries, before it gets no more requests. */
const maxFailures = 3

/**
 * Fails at once if the server has failed too often in this fetch, because retrying each file of such a server takes
 * too long.
 */
const unlessUnreachable = (
  failures: Ref.Ref<HashMap.HashMap<string, Failures>>,
  wanted: WantedFile,
  fetching: Effect.Effect<MediaDownload.FetchedFile, FileProblem>
) =>
  Effect.gen(function* () {
    const origin = Option.getOrElse(Option.map(wanted.url, originOf), () => "")
    const isOver = Ref.update(failures, HashMap.remove(origin))
    const before = HashMap.get(yield* Ref.get(failures), origin)
    if (Option.isSome(before) && before.value.count >= maxFailures) {
      return yield* notSaved(wanted, { detail: before.value.detail, isTransient: true })
    }
    const failed = ({ detail }: FileProblem) =>
      Ref.update(
        failures,
        HashMap.modifyAt(origin, (known) =>
          Option.some({ detail, count: 1 + Option.getOrElse(known, () => noFailures).count })
        )
      )
    return yield* Effect.tapBoth(fetching, {
      onFailure: (problem) => (problem.isTransient ? failed(problem) : isOver),
      onSuccess: () => isOver
    })
  })

const noFailures: Failures = { count: 0, detail: "" }

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : "")
