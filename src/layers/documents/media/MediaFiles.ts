/**
 * The files that documents name: taken over from the version before, or downloaded.
 */
import * as Path from "@effect/platform/Path"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import { linkOrCopy } from "../../../internal/reuseFile.ts"
import type { AttachmentProgress, FetchTarget, SourceFile } from "../../../services/ContentSource.ts"
import { filesAtOnce, makeDownloadCounter, saidOnce } from "../../httpClient/downloadCounter.ts"
import type { PictureFormat } from "../images/pictureFormat.ts"
import { FileNotSaved } from "./errors.ts"
import { keyOf } from "./links.ts"
import * as MediaDownload from "./MediaDownload.ts"
import { type IndexEntry, type MediaIndex, type RememberedFile, remembered } from "./MediaIndex.ts"
import { notSaved, type WantedFile } from "./WantedFile.ts"

/** A file that is to be in the version. */
export interface MediaFile extends SourceFile {
  readonly key: string
  readonly entry: IndexEntry
  /** Whether it is still only in the version before. */
  readonly isKept: boolean
  readonly wanted: WantedFile
  /** Where it was downloaded, and is a picture. */
  readonly format: Option.Option<PictureFormat>
}

export interface MediaTarget extends Pick<FetchTarget, "directory" | "previous"> {
  /** What is known of the files of `previous`. */
  readonly index: MediaIndex
  readonly progress: (latest: WantedFile, progress: AttachmentProgress) => Effect.Effect<void>
}

/** What became of a file: one of both, or both where that of the version before is kept. */
interface Outcome {
  readonly file: Option.Option<MediaFile>
  readonly error: Option.Option<FileNotSaved>
}

export const make = Effect.fnUntraced(function* (options: MediaDownload.Options, maxTimeout: number) {
  const path = yield* Path.Path
  const { download, makeFolderFor } = yield* MediaDownload.make(options, maxTimeout)

  const fetchAll = Effect.fn("Files.fetch")(function* (
    files: ReadonlyArray<WantedFile>,
    { directory, index, previous, progress }: MediaTarget
  ) {
    const failures = new Map<string, Failures>()
    const found = files.map((wanted) => {
      const key = keyOf(wanted.identity)
      const before = Option.flatMap(previous, ({ files }) => fileBefore(wanted, key, index, files))
      return { key, wanted, before, isProven: Option.exists(before, (before) => isProven(wanted, before)) }
    })
    const proven = found.filter(({ isProven }) => isProven)
    const counter = yield* makeDownloadCounter<WantedFile>(
      files.length,
      { done: proven.length, bytes: proven.reduce((sum, { before }) => sum + sizeOf(before), 0) },
      progress
    )
    yield* Effect.forEach(files.slice(0, 1), counter.report)

    const fetchFile = (key: string, wanted: WantedFile, before: Option.Option<RememberedFile>) =>
      download({ key, wanted, before, directory, onBytes: counter.onBytes(wanted) })

    const kept = (
      key: string,
      wanted: WantedFile,
      { sha256, size, ...before }: RememberedFile,
      entry: IndexEntry = before
    ): MediaFile => ({
      key,
      entry,
      sha256,
      size,
      isKept: true,
      wanted,
      format: Option.none()
    })

    const keep = (key: string, wanted: WantedFile, before: RememberedFile, entry?: IndexEntry) =>
      Effect.as(counter.fileKept(wanted, before.size), kept(key, wanted, before, entry))

    const fetchOrKeep = ({
      before,
      isProven,
      key,
      wanted
    }: (typeof found)[number]): Effect.Effect<Outcome, FileNotSaved> =>
      isProven && Option.isSome(before)
        ? Effect.succeed({ file: Option.some(kept(key, wanted, before.value)), error: Option.none() })
        : unlessUnreachable(failures, wanted, fetchFile(key, wanted, before)).pipe(
            Effect.flatMap((fetched) =>
              Effect.as(counter.fileDone(wanted), {
                ...fetched,
                key,
                isKept: false,
                wanted
              })
            ),
            Effect.catchTag("vitrine/MediaUnchanged", ({ entry }) =>
              Option.match(before, {
                onNone: () => unexpected(wanted),
                onSome: (before) => keep(key, wanted, before, entry)
              })
            ),
            Effect.map((file): Outcome => ({ file: Option.some(file), error: Option.none() })),
            Effect.catchTag("vitrine/FileNotSaved", (error) =>
              wanted.isOptional
                ? // What cannot be had for now need not vanish.
                  Effect.transposeMapOption(
                    Option.filter(before, () => error.isTransient),
                    (before) => keep(key, wanted, before)
                  ).pipe(Effect.map((file): Outcome => ({ file, error: Option.some(error) })))
                : Effect.fail(error)
            )
          )

    const outcomes = yield* Effect.forEach(found, fetchOrKeep, { concurrency: filesAtOnce })
    const media = outcomes.flatMap(({ file }) => Option.toArray(file))

    /** Takes over what is only in the version before; what has vanished there is downloaded. */
    const takeOver = Effect.fnUntraced(function* (file: MediaFile) {
      const to = path.join(directory, file.entry.path)
      if (file.wanted.attachment !== undefined) yield* makeFolderFor(file.wanted, to)
      const from = Option.map(previous, ({ directory }) => path.join(directory, file.entry.path))
      return yield* Effect.flatMap(from, (from) => linkOrCopy(from, to)).pipe(
        Effect.as(file),
        Effect.catchAll(() =>
          fetchFile(file.key, file.wanted, Option.none()).pipe(
            Effect.map((fetched): MediaFile => ({ ...file, ...fetched, isKept: false })),
            Effect.catchTag("vitrine/MediaUnchanged", () => unexpected(file.wanted))
          )
        )
      )
    })

    return {
      media,
      /** Why files are missing, or are those of the version before, that may be so. */
      errors: outcomes.flatMap(({ error }) => Option.toArray(error)),
      bytes: media.reduce((sum, { size }) => sum + size, 0),
      /** Makes the files of the version before part of this one. */
      takeOver: Effect.forEach(media, (file) => (file.isKept ? takeOver(file) : Effect.succeed(file)), {
        concurrency: filesAtOnce
      })
    }
  }, saidOnce)

  return { fetchAll }
})

const sizeOf = Option.match({ onNone: () => 0, onSome: ({ size }: RememberedFile) => size })

/** What the version before has of it. */
const fileBefore = (
  { attachment, size }: WantedFile,
  key: string,
  index: MediaIndex,
  files: Readonly<Record<string, SourceFile>>
): Option.Option<RememberedFile> =>
  attachment === undefined
    ? remembered(index, files, key)
    : Record.get(files, attachment.localPath).pipe(
        Option.filter((file) => size === undefined || file.size === size),
        Option.map((file) => ({ ...file, path: attachment.localPath }))
      )

/** Consecutive failures of a server. */
interface Failures {
  readonly count: number
  readonly detail: string
}

/** How often in a row a server fails, each time after all tries, before no more is asked of it. */
const maxFailures = 3

/** Fails at once where its server has failed too often in this fetch: to try each file of such a server takes too long. */
const unlessUnreachable = <A, E>(
  failures: Map<string, Failures>,
  wanted: WantedFile,
  fetched: Effect.Effect<A, E | FileNotSaved>
): Effect.Effect<A, E | FileNotSaved> => {
  const origin = Option.match(wanted.url, {
    onNone: () => "",
    onSome: (url) => (URL.canParse(url) ? new URL(url).origin : "")
  })
  return Effect.suspend(() => {
    const before = failures.get(origin)
    return before !== undefined && before.count >= maxFailures
      ? notSaved(wanted, { detail: before.detail, isTransient: true })
      : Effect.onExit(fetched, (exit) =>
          Effect.sync(() => {
            const error = Exit.isFailure(exit)
              ? Option.getOrUndefined(Cause.failureOption(exit.cause))
              : undefined
            if (error instanceof FileNotSaved && error.isTransient) {
              failures.set(origin, { count: 1 + (failures.get(origin)?.count ?? 0), detail: error.detail })
            } else if (Exit.isSuccess(exit) || error !== undefined) {
              failures.delete(origin)
            }
          })
        )
  })
}

const unexpected = (wanted: WantedFile) =>
  notSaved(wanted, { detail: "the server says that it has not changed, which was not asked" })

/** Whether nothing has to be asked: the document says so, or names a size and the server gave nothing to ask with. */
const isProven = ({ attachment, size, version }: WantedFile, before: RememberedFile): boolean =>
  attachment !== undefined ||
  (version !== undefined
    ? version === before.version
    : size === before.size && (before.etag ?? before.lastModified) === undefined)
