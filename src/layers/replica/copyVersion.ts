/**
 * Copying a version of a hub: what is on disk is taken over by its content, the rest is downloaded.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Array from "effect/Array"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { issueText, placedIssues } from "../../internal/ParseIssues.ts"
import { sha256OfText } from "../../internal/sha256.ts"
import { explain, isDiskFull } from "../../internal/systemError.ts"
import type { CopyFailed } from "../../services/Content.ts"
import { type FileList, fileListName } from "../../services/FileList.ts"
import { applyDelta, FileListDeltaJson } from "../../services/FileListDelta.ts"
import { type CopiedFile, VersionStore, VersionStoreError } from "../../services/VersionStore.ts"
import { decodeList } from "../content/fileLists.ts"
import type { Fetched } from "../content/Origin.ts"
import type { Report } from "../content/report.ts"
import type { OnBytes } from "../httpClient/Download.ts"
import { makeCopyProgress } from "./copyProgress.ts"
import type { FileGone, Hub } from "./Hub.ts"
import type { HubVersion } from "./HubManifest.ts"
import type { Parts } from "./Parts.ts"

/** How many files are worked on at the same time. */
const concurrency = 6

/**
 * Makes a version of a hub the latest one, under the same id. Files of the same content are downloaded once, and of the list
 * what has changed since the `base`, the list of a version that is on disk.
 */
export const makeCopyVersion = Effect.fnUntraced(function* (parts: Parts, report: Report) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const store = yield* VersionStore

  /** Downloads a file of which the digest is known, once more from its beginning if it has another one. */
  const fetchPart = (
    hub: Hub,
    file: string,
    { sha256, size }: { readonly sha256: string; readonly size: Option.Option<number> },
    onBytes: OnBytes
  ) => {
    let bytes = 0
    const counted: OnBytes = (more) => {
      bytes += more
      return onBytes(more)
    }
    const attempt = hub.download(file, { file: parts.fileOf(sha256), size, onBytes: counted }).pipe(
      Effect.filterOrFail(
        (downloaded) => downloaded.sha256 === sha256,
        (downloaded) => new WrongDigest({ found: downloaded.sha256 })
      ),
      Effect.tapErrorTag("vitrine/WrongDigest", () =>
        Effect.zipRight(
          parts.remove(sha256),
          Effect.suspend(() => counted(-bytes))
        )
      )
    )
    return attempt.pipe(
      Effect.catchTag("vitrine/WrongDigest", () => attempt),
      Effect.catchTag("vitrine/WrongDigest", ({ found }) =>
        hub.failed(
          `${file} has the digest ${found}, but ${sha256} is listed. It was changed there, or on the way. Run "vitrine verify" and then "vitrine fetch" on the hub`,
          { isTransient: false }
        )
      ),
      Effect.asVoid
    )
  }

  const readPart = (part: string) =>
    Effect.mapError(
      fs.readFileString(part),
      (cause) => new VersionStoreError({ action: "read", path: part, detail: explain(cause), cause })
    )

  const fetchList = Effect.fnUntraced(function* (hub: Hub, version: HubVersion) {
    const { filesSha256: sha256 } = version
    yield* fetchPart(hub, listOf(version), { sha256, size: Option.none() }, () => Effect.void)
    return yield* readPart(parts.fileOf(sha256))
  })

  /** The same with fewer bytes, where the hub has the base and gives what has changed since. */
  const fetchListSince = Effect.fnUntraced(function* (hub: Hub, version: HubVersion, base: FileList) {
    const { filesSha256 } = version
    const part = parts.fileOf(filesSha256)
    const given = yield* hub
      .download(listOf(version), {
        file: part,
        size: Option.none(),
        since: base.versionId,
        onBytes: () => Effect.void
      })
      .pipe(
        Effect.zipRight(readPart(part)),
        Effect.asSome,
        // A static server may accept no query.
        Effect.catchIf(isRefused, () => Effect.succeed(Option.none<string>()))
      )
    const text = given.pipe(
      Option.map((given) =>
        Option.match(decodeDelta(given), {
          onNone: () => given,
          onSome: (delta) => applyDelta(base, delta)
        })
      ),
      Option.filter((text) => sha256OfText(text) === filesSha256)
    )
    if (Option.isSome(text)) {
      return text.value
    }
    yield* parts.remove(filesSha256)
    return yield* fetchList(hub, version)
  })

  const readList = Effect.fnUntraced(function* (
    hub: Hub,
    version: HubVersion,
    base: Option.Option<FileList>
  ) {
    const text = yield* Option.match(base, {
      onNone: () => fetchList(hub, version),
      onSome: (base) => fetchListSince(hub, version, base)
    })
    const { list } = yield* Effect.mapError(decodeList(text), (error) =>
      hub.failed(`${listOf(version)} is no list of files: ${issueText(placedIssues(error))}`, {
        isTransient: false
      })
    )
    return { list, text }
  })

  const removeParts = Effect.ignore(parts.keepOnly(new Set()))

  return (hub: Hub, version: HubVersion, base: Option.Option<FileList>) =>
    Effect.gen(function* () {
      const staged = yield* store.stageCopy
      yield* parts.makeFolder
      const { list, text } = yield* readList(hub, version, base)
      const files = copiedFiles(list)
      yield* parts.keepOnly(new Set(files.map(({ sha256 }) => sha256)))
      const progress = yield* makeCopyProgress(list, report)
      yield* progress.start
      const missing = new Set(yield* staged.reuse(files))
      yield* progress.reused(files.filter((file) => !missing.has(file)))
      const directories = new Map<string, string>()
      for (const { sourceId } of list.sources) {
        directories.set(sourceId, yield* staged.sourceDirectory(sourceId))
      }
      const placeOf = (file: CopiedFile) =>
        path.join(directories.get(file.sourceId) ?? "", ...file.path.split("/"))
      const places = new Set([...missing].map((file) => path.dirname(placeOf(file))))
      yield* Effect.forEach(places, parts.makePlace, { discard: true })

      const copyContent = Effect.fnUntraced(function* (files: Array.NonEmptyReadonlyArray<CopiedFile>) {
        const [first] = files
        const { path: name, sha256, size, sourceId } = first
        yield* fetchPart(
          hub,
          `${folderOf(version)}/${sourceId}/${name}`,
          { sha256, size: Option.some(size) },
          progress.onBytes(first)
        ).pipe(Effect.tapError((error) => progress.failed(first, error)))
        for (const file of files) {
          yield* parts.place(sha256, placeOf(file))
          yield* file === first ? progress.downloaded(file) : progress.reused([file])
        }
      })
      const contents = Object.values(Array.groupBy(missing, ({ sha256 }) => sha256))
      yield* Effect.forEach(contents, copyContent, { concurrency, discard: true })
      const promotion = yield* staged.promote({ manifest: version.manifest, fileList: text })
      yield* removeParts
      return { ...promotion, records: progress.records } satisfies Fetched
    }).pipe(
      Effect.scoped,
      // Parts that fill the disk would keep it full for ever.
      Effect.tapError((error) => (isDiskFull(error) ? removeParts : Effect.void))
    )
})

/** The address of a version at its hub. */
const folderOf = ({ manifest }: HubVersion) => `versions/${manifest.versionId}`

const listOf = (version: HubVersion) => `${folderOf(version)}/${fileListName}`

const decodeDelta = Schema.decodeOption(FileListDeltaJson)

const copiedFiles = ({ sources }: FileList): ReadonlyArray<CopiedFile> =>
  sources.flatMap(({ files, sourceId }) =>
    Object.entries(files).map(([path, file]) => ({ sourceId, path, ...file }))
  )

const isRefused = (error: CopyFailed | FileGone | VersionStoreError): boolean =>
  error._tag === "vitrine/FileGone" || (error._tag === "vitrine/CopyFailed" && !error.isTransient)

/** What came has another digest than the file should have. */
class WrongDigest extends Data.TaggedError("vitrine/WrongDigest")<{ readonly found: string }> {}
