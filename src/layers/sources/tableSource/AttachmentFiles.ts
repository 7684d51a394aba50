/**
 * The files of attachments: taken over from the version before, or downloaded.
 *
 * The token of the table API is not known here: files come from other hosts.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import { linkOrCopy } from "../../../internal/reuseFile.ts"
import { explain } from "../../../internal/systemError.ts"
import type {
  AttachmentProgress,
  FetchedAttachments,
  FetchTarget,
  SourceFile
} from "../../../services/ContentSource.ts"
import { TableSourceClient } from "../../../services/TableSourceClient.ts"
import * as Download from "../../httpClient/Download.ts"
import { filesAtOnce, makeDownloadCounter, saidOnce } from "../../httpClient/downloadCounter.ts"
import { naming } from "../../httpClient/localAddress.ts"
import { makeFreshLinks } from "./freshLinks.ts"
import { type FoundAttachment, notSaved } from "./NotSaved.ts"
import type { TableSourceOptions } from "./TableSourceOptions.ts"

export interface AttachmentTarget extends Pick<FetchTarget, "directory" | "previous"> {
  /** Whether `previous` has the same attachments, and nothing is to be taken over. */
  readonly isUnchanged: boolean
  /** Told once before the first download, then after every one, and each second in a long one. */
  readonly progress: (latest: FoundAttachment, progress: AttachmentProgress) => Effect.Effect<void>
}

export interface AttachmentOptions extends Pick<TableSourceOptions, "maxAttachmentBytes" | "maxTimeout"> {
  /**
   * Where the API is. Local addresses are refused to links and redirects, but for its own host; where it is not known, for that of
   * the link.
   */
  readonly endpointUrl?: string
}

/** Saves each file once. */
export const make = Effect.fnUntraced(function* ({
  endpointUrl,
  maxAttachmentBytes,
  maxTimeout
}: AttachmentOptions) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const tables = yield* TableSourceClient
  const download = yield* Download.make({
    maxBytes: { value: maxAttachmentBytes, option: "maxAttachmentBytes" },
    maxTimeout
  })

  const fetchAll = Effect.fn("AttachmentFiles.fetch")(function* (
    found: ReadonlyArray<FoundAttachment>,
    { directory, isUnchanged, previous, progress }: AttachmentTarget
  ) {
    const files = distinct(found)
    const [missing, kept] = Array.partitionMap(files, findIn(previous))
    const withFreshLink = makeFreshLinks(tables)
    const counter = yield* makeDownloadCounter(
      files.length,
      { done: kept.length, bytes: kept.reduce((sum, { size }) => sum + size, 0) },
      progress
    )

    const fetchFile = (found: FoundAttachment, file: string, onBytes: Download.OnBytes) =>
      withFreshLink(found, (url) =>
        naming(endpointUrl ?? url)(download({ url, file, name: found.localPath, size: found.size, onBytes }))
      )

    const makeFolderFor = Effect.fnUntraced(function* (found: FoundAttachment) {
      const file = path.join(directory, found.localPath)
      yield* Effect.mapError(fileSystem.makeDirectory(path.dirname(file), { recursive: true }), (cause) =>
        notSaved(found, {
          detail: `cannot write ${file}: ${explain(cause)}`,
          isTransient: false,
          cause
        })
      )
      return file
    })

    yield* Effect.forEach(files.slice(0, 1), counter.report)
    const fetched = yield* Effect.forEach(
      missing,
      Effect.fnUntraced(function* (found) {
        const { sha256 } = yield* fetchFile(found, yield* makeFolderFor(found), counter.onBytes(found))
        yield* counter.fileDone(found)
        return [found.localPath, sha256] as const
      }),
      { concurrency: filesAtOnce }
    )

    const reuse = Effect.fnUntraced(function* ({ directory, found, sha256 }: KeptFile) {
      const file = yield* makeFolderFor(found)
      const taken = yield* linkOrCopy(path.join(directory, found.localPath), file).pipe(
        Effect.as({ sha256 }),
        Effect.catchAll(() => fetchFile(found, file, () => Effect.void))
      )
      return [found.localPath, taken.sha256] as const
    })
    const taken = yield* Effect.forEach(isUnchanged ? [] : kept, reuse, { concurrency: filesAtOnce })
    return {
      attachments: {
        total: files.length,
        bytes: counter.bytes(),
        reused: kept.length
      } satisfies FetchedAttachments,
      /** By the paths of the files. */
      digests: Object.fromEntries([...fetched, ...taken])
    }
  }, saidOnce)

  return { fetchAll }
})

/** A file that the version before has. */
interface KeptFile extends SourceFile {
  readonly found: FoundAttachment
  /** The folder of the source there. */
  readonly directory: string
}

/** Finds the file of an attachment in the version before; the attachment itself where it is not there, or not as large. */
const findIn =
  (previous: FetchTarget["previous"]) =>
  (found: FoundAttachment): Either.Either<KeptFile, FoundAttachment> =>
    previous.pipe(
      Option.flatMap(({ directory, files }) =>
        Option.map(Record.get(files, found.localPath), (file) => ({ ...file, directory, found }))
      ),
      Option.filter(({ size }) => Option.getOrElse(found.size, () => size) === size),
      Either.fromOption(() => found)
    )

/** The first of those that are saved to the same file. */
const distinct = (all: ReadonlyArray<FoundAttachment>): ReadonlyArray<FoundAttachment> =>
  Object.values(Array.groupBy(all, ({ localPath }) => localPath)).map(Array.headNonEmpty)
