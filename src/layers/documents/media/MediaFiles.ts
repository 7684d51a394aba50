/**
 * The files that documents link to: reused from the last version, or downloaded.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { AttachmentProgress, FetchTarget, SourceFile } from "../../../services/ContentSource.ts"
import { makeDownloadCounter } from "../../httpClient/downloadCounter.ts"
import { takeOver } from "../Document.ts"
import { filesAtOnce } from "../progress.ts"
import { sourceErrors } from "../sourceErrors.ts"
import { type FileProblem, LinkExpired, notSaved, type WantedFile } from "./FileProblem.ts"
import { keyOf } from "./links.ts"
import * as MediaDownload from "./MediaDownload.ts"
import type { MediaIndex } from "./mediaIndex.ts"
import { isMediaPath } from "./mediaTypes.ts"

/** A file for the version. */
export interface MediaFile extends MediaDownload.FetchedFile {
  readonly key: string
  readonly wanted: WantedFile
}

export interface MediaTarget extends Pick<FetchTarget, "directory" | "previous"> {
  /** The index of the files of `previous`. */
  readonly index: MediaIndex
  readonly progress: (latest: WantedFile, progress: AttachmentProgress) => Effect.Effect<void>
}

/** The result for a file: the file or the problem, or both if the file of the last version is kept. */
interface Outcome {
  readonly file: MediaDownload.FetchedFile | undefined
  readonly problem?: FileProblem | undefined
}

export const make = Effect.fnUntraced(function* (options: MediaDownload.Options, maxTimeout: number) {
  const { download } = yield* MediaDownload.make(options, maxTimeout)

  const fetchAll = Effect.fn("Files.fetch")(
    function* (files: ReadonlyArray<WantedFile>, { directory, index, previous, progress }: MediaTarget) {
      const last = Option.getOrUndefined(previous)
      const failures = new Map<string, Failures>()
      const found = files.map((wanted) => {
        const key = keyOf(wanted.identity)
        const before = last && fileBefore(wanted, key, index, last.files)
        return { key, wanted, before, proven: before && isProven(wanted, before) ? before : undefined }
      })
      const proven = found.map(({ proven }) => proven).filter(Predicate.isNotUndefined)
      const counter = yield* makeDownloadCounter<WantedFile>(
        files.length,
        { done: proven.length, bytes: sizeOf(proven) },
        progress
      )
      yield* Effect.forEach(files.slice(0, 1), counter.report)

      const fetchFile = (key: string, wanted: WantedFile, before: MediaDownload.RememberedFile | undefined) =>
        download({ key, wanted, before, directory, onBytes: counter.onBytes(wanted) })

      const fetchOrKeep = Effect.fnUntraced(function* ({
        before,
        key,
        proven,
        wanted
      }: (typeof found)[number]) {
        if (proven !== undefined) return { key, wanted, problem: undefined, file: MediaDownload.kept(proven) }
        const fetching = unlessUnreachable(failures, wanted, fetchFile(key, wanted, before))
        const outcome = yield* Effect.map(fetching, (file): Outcome => ({ file })).pipe(
          Effect.catchIf(
            () => wanted.isOptional,
            (problem) =>
              Effect.succeed<Outcome>({
                // A temporary failure must not remove the file.
                file: before && problem.isTransient ? MediaDownload.kept(before) : undefined,
                problem
              })
          )
        )
        const { file } = outcome
        if (file !== undefined) {
          yield* file.isKept ? counter.fileKept(wanted, file.size) : counter.fileDone(wanted)
        }
        return { key, wanted, ...outcome }
      })

      const outcomes = yield* inLanes(found, fetchOrKeep)
      const media = outcomes.flatMap(({ file, key, wanted }) => (file ? [{ ...file, key, wanted }] : []))

      const take = (...files: ReadonlyArray<MediaFile>) =>
        takeOver(
          { directory, previous },
          files.filter(({ isKept }) => isKept).map(({ entry }) => entry.path)
        )

      /** Downloads the file if it has vanished from the last version. */
      const mend = (file: MediaFile) =>
        file.isKept
          ? Effect.orElse(Effect.as(take(file), file), () =>
              Effect.map(fetchFile(file.key, file.wanted, undefined), (fetched) => ({ ...file, ...fetched }))
            )
          : Effect.succeed(file)

      return {
        media,
        /** Why optional files are missing or are kept from the last version. */
        problems: outcomes.map(({ problem }) => problem).filter(Predicate.isNotUndefined),
        /** Puts the reused files into this version. */
        place: Effect.as(take(...media), media).pipe(
          Effect.orElse(() => Effect.forEach(media, mend, { concurrency: filesAtOnce }))
        )
      }
    },
    // The span must not have the secrets that a server has repeated.
    (fetching) =>
      Effect.catchAll(fetching, (problem) =>
        Effect.mapError(sourceErrors(problem), (error) =>
          problem.isExpired ? new LinkExpired({ error }) : error
        )
      )
  )

  return { fetchAll }
})

/** As `Effect.forEach` for six files at once, but without a fiber for each file. */
const inLanes = <A, B, E, R>(files: ReadonlyArray<A>, action: (file: A) => Effect.Effect<B, E, R>) =>
  Effect.suspend(() => {
    const results: Array<B> = []
    const waiting = files.entries()
    const lane = Effect.gen(function* () {
      for (const [index, file] of waiting) results[index] = yield* action(file)
    })
    const lanes = Array.from({ length: Math.min(filesAtOnce, files.length) }, () => lane)
    return Effect.as(Effect.all(lanes, { concurrency: "unbounded", discard: true }), results)
  })

export const sizeOf = (files: ReadonlyArray<SourceFile>): number =>
  files.reduce((sum, { size }) => sum + size, 0)

/** The file in the last version, if all of it is there. */
const fileBefore = (
  { localPath, size }: WantedFile,
  key: string,
  index: MediaIndex,
  files: Readonly<Record<string, SourceFile>>
): MediaDownload.RememberedFile | undefined => {
  const entry = localPath === undefined ? index[key] : { path: localPath }
  const file = entry && files[entry.path]
  return entry === undefined ||
    file === undefined ||
    (localPath === undefined && !isMediaPath(entry.path)) ||
    (localPath !== undefined && size !== undefined && file.size !== size)
    ? undefined
    : { ...entry, ...file }
}

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
  failures: Map<string, Failures>,
  wanted: WantedFile,
  fetching: Effect.Effect<MediaDownload.FetchedFile, FileProblem>
): Effect.Effect<MediaDownload.FetchedFile, FileProblem> =>
  Effect.suspend(() => {
    const { url = "" } = wanted
    const origin = URL.canParse(url) ? new URL(url).origin : ""
    const before = failures.get(origin)
    if (before !== undefined && before.count >= maxFailures) {
      return notSaved(wanted, { detail: before.detail, isTransient: true })
    }
    return Effect.tapBoth(fetching, {
      onFailure: ({ detail, isTransient }) =>
        Effect.sync(() => {
          if (isTransient) failures.set(origin, { detail, count: 1 + (failures.get(origin)?.count ?? 0) })
          else failures.delete(origin)
        }),
      onSuccess: () => Effect.sync(() => failures.delete(origin))
    })
  })
