/**
 * Copies a version of a hub: reuses files on disk with equal content, and downloads the rest.
 */

import { rm, stat, unlink } from "node:fs/promises"
import { join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Array from "effect/Array"
import * as Data from "effect/Data"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { decodeFileList, type FileList, fileListName } from "../../files/FileList.ts"
import { forEachFile, linkOrCopy, toError } from "../../files/fileBatch.ts"
import { sha256OfText } from "../../files/sha256.ts"
import { isDiskFull, move, retryHeldOpen } from "../../files/systemError.ts"
import { mapDiskError, refuseLink } from "../../files/versionStoreError.ts"
import { issueText, placedIssues } from "../../internal/Options.ts"
import { endedBy } from "../../internal/Schedules.ts"
import type { CopyFailed } from "../../services/Content.ts"
import {
  type CopiedFile,
  type StagedCopy,
  type VersionCopy,
  type VersionId,
  VersionStore,
  type VersionStoreError
} from "../../services/VersionStore.ts"
import type { Fetched, Report } from "../fetching/Provider.ts"
import type { OnBytes } from "../httpClient/Download.ts"
import { manifestOf } from "../versions/ManifestFile.ts"
import { pathOf } from "../versions/VersionFolders.ts"
import { makeCopyProgress } from "./copyProgress.ts"
import { folderOf, type Hub, type HubVersion, type MovedOn } from "./Hub.ts"

/** Fails if the hub names another version by now. */
export type IsWanted = Effect.Effect<void, MovedOn>

/** How many files are copied concurrently. */
const concurrency = 6

/** The state that all copies from a hub share. */
interface Copies {
  readonly hub: Hub
  readonly stageCopy: VersionStore["Type"]["stageCopy"]
  readonly parts: Effect.Effect.Success<ReturnType<typeof makeParts>>
  readonly pollEvery: Duration.DurationInput
}

/**
 * Copies a version of a hub under the same id, and makes it the latest version or keeps it beside the active one. Files
 * with equal content are downloaded once. `isWanted` fails when the hub no longer wants the version; it is called every
 * `pollEvery` during the copy, and once at the end. Copies run one after the other.
 */
export const makeCopyVersion = Effect.fnUntraced(function* (
  hub: Hub,
  report: Report,
  pollEvery: Duration.DurationInput
) {
  const { directory, stageCopy } = yield* VersionStore
  const parts = yield* makeParts(join(directory, ".partial"))
  const copies: Copies = { hub, stageCopy, parts, pollEvery }
  const oneAtATime = (yield* Effect.makeSemaphore(1)).withPermits(1)
  const inTurn = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(
      // Otherwise, partial downloads that fill the disk would keep it full for ever.
      Effect.tapError((error) => (isDiskFull(error) ? parts.removeAll : Effect.void)),
      oneAtATime
    )

  return {
    /** Copies the version and makes it the latest one. */
    latest: (version: HubVersion, isWanted: IsWanted) =>
      copy(copies, version, isWanted, report, (staged, copy) => staged.promote(copy)).pipe(
        Effect.map(({ counts, finished }): Fetched => ({ ...finished, ...counts })),
        inTurn
      ),
    /** Copies the version of this id and keeps it on disk, without a report. */
    ahead: (versionId: VersionId, isWanted: IsWanted) =>
      Effect.flatMap(versionOf(hub, versionId), (version) =>
        copy(
          copies,
          version,
          isWanted,
          () => Effect.void,
          (staged, copy) => staged.keep(copy)
        )
      ).pipe(Effect.asVoid, inTurn)
  }
})

const copy = Effect.fnUntraced(function* <A>(
  { hub, parts, pollEvery, stageCopy }: Copies,
  version: HubVersion,
  isWanted: IsWanted,
  report: Report,
  finish: (staged: StagedCopy, copy: VersionCopy) => Effect.Effect<A, VersionStoreError>
) {
  const staged = yield* stageCopy
  const { list, text } = yield* fetchList(hub, version)
  const files = copiedFiles(list)
  const begun = yield* parts.keepOnly(new Set(files.map(({ sha256 }) => sha256)))
  const progress = yield* makeCopyProgress(list, report)
  yield* progress.start
  const missing = new Set(yield* staged.reuse(files))
  yield* progress.reused(files.filter((file) => !missing.has(file)))

  const contents = Object.values(Array.groupBy(missing, ({ sha256 }) => sha256))
  const durable = new Map<string, number>()

  const fetchContent = Effect.fnUntraced(function* ([
    first,
    ...others
  ]: Array.NonEmptyReadonlyArray<CopiedFile>) {
    const { path: name, sha256, sourceId } = first
    yield* download(
      hub,
      parts,
      `${folderOf(version)}/${sourceId}/${name}`,
      { ...first, isNew: !begun.has(sha256) },
      progress.onBytes(first)
    ).pipe(Effect.tapError((error) => progress.failed(first, error)))
    if (!begun.has(sha256)) durable.set(`${sourceId}/${name}`, first.size)
    yield* progress.downloaded(first)
    yield* progress.reused(others)
  })
  yield* Effect.forEach(contents, fetchContent, { concurrency, discard: true }).pipe(
    endedBy(Effect.zipRight(Effect.sleep(pollEvery), isWanted).pipe(Effect.forever))
  )
  yield* isWanted
  const directories = new Map<string, string>()
  for (const { sourceId } of list.sources) {
    directories.set(sourceId, yield* staged.sourceDirectory(sourceId))
  }
  const placeOf = ({ path: name, sourceId }: CopiedFile) =>
    join(directories.get(sourceId) ?? "", ...name.split("/"))
  // A moved download is lost if the process is killed, so all are moved together, after the last download.
  yield* Effect.forEach(
    contents,
    ([first, ...others]) => parts.moveTo(first.sha256, placeOf(first), others.map(placeOf)),
    { concurrency, discard: true }
  )
  const finished = yield* finish(staged, { manifest: version.manifest, fileList: text, durable })
  yield* parts.removeAll
  return { finished, counts: progress.counts }
}, Effect.scoped)

/** Downloads a file; if the digest is wrong, once more from the beginning. */
const download = Effect.fnUntraced(function* (
  hub: Hub,
  parts: Copies["parts"],
  address: string,
  { isNew, sha256, size }: Pick<CopiedFile, "sha256" | "size"> & { readonly isNew: boolean },
  onBytes: OnBytes
) {
  const bytes = yield* Ref.make(0)
  const counted: OnBytes = (more) =>
    Effect.zipRight(
      Ref.update(bytes, (sum) => sum + more),
      onBytes(more)
    )
  const target = { file: parts.fileOf(sha256), isNew, size: Option.some(size), onBytes: counted }
  yield* hub.download(address, target).pipe(
    Effect.flatMap(({ sha256: found }) => checkDigest(hub, address, { found, listed: sha256 })),
    Effect.tapErrorTag("vitrine/WrongDigest", () =>
      parts.remove(sha256).pipe(
        Effect.zipRight(Ref.get(bytes)),
        Effect.flatMap((bytes) => counted(-bytes))
      )
    ),
    twiceIfWrong
  )
})

/** The version of this id, from its list of files. */
const versionOf = Effect.fnUntraced(function* (hub: Hub, versionId: VersionId) {
  const file = `${pathOf(versionId)}/${fileListName}`
  const list = yield* listFrom(hub, file, yield* hub.fetchList(file))
  return { manifest: manifestOf(list), filesSha256: list.sha256 } satisfies HubVersion
})

const fetchList = Effect.fnUntraced(function* (hub: Hub, version: HubVersion) {
  const file = `${folderOf(version)}/${fileListName}`
  const text = yield* hub.fetchList(file).pipe(
    Effect.tap((text) => checkDigest(hub, file, { found: sha256OfText(text), listed: version.filesSha256 })),
    twiceIfWrong
  )
  return yield* listFrom(hub, file, text)
})

const listFrom = (hub: Hub, file: string, text: string) =>
  Effect.mapError(decodeFileList(text), (error) =>
    hub.failed(`${file} is no list of files: ${issueText(placedIssues(error))}`, { isTransient: false })
  )

const copiedFiles = ({ sources }: FileList): ReadonlyArray<CopiedFile> =>
  sources.flatMap(({ files, sourceId }) =>
    Object.entries(files).map(([path, file]) => ({ sourceId, path, ...file }))
  )

/** The digest of the file differs from the list; `error` has the message. */
class WrongDigest extends Data.TaggedError("vitrine/WrongDigest")<{ readonly error: CopyFailed }> {}

/** Fails if the digest `found` differs from the digest `listed`. */
const checkDigest = (
  hub: Hub,
  file: string,
  { found, listed }: { readonly found: string; readonly listed: string }
): Effect.Effect<void, WrongDigest> =>
  found === listed
    ? Effect.void
    : new WrongDigest({
        error: hub.failed(
          `${file} has the digest ${found}, but ${listed} is listed. It was changed there, or on the way. Run "vitrine verify" and then "vitrine fetch" on the hub`,
          { isTransient: false }
        )
      })

/** Runs the attempt once more if it fails with a wrong digest. */
const twiceIfWrong = <A>(
  attempt: Effect.Effect<A, CopyFailed | MovedOn | WrongDigest>
): Effect.Effect<A, CopyFailed | MovedOn> =>
  attempt.pipe(
    Effect.catchTag("vitrine/WrongDigest", () => attempt),
    Effect.catchTag("vitrine/WrongDigest", ({ error }) => error)
  )

/** Downloads that are kept over restarts until they are part of a version. Each file is named by its digest. */
const makeParts = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const fileOf = (sha256: string) => join(folder, sha256)

  /** Makes the folder of downloads, and removes unwanted files from it. Gives the remaining files. */
  const keepOnly = (wanted: ReadonlySet<string>) =>
    Effect.zipRight(
      Effect.provideService(refuseLink(folder), FileSystem.FileSystem, fs),
      fs.makeDirectory(folder, { recursive: true }).pipe(
        Effect.zipRight(fs.readDirectory(folder)),
        Effect.flatMap((names) => forEachFile(names, (name) => keepOrRemove(name, wanted), toError)),
        retryHeldOpen,
        Effect.map((kept) => new Set(kept.flat())),
        mapDiskError("write", folder)
      )
    )

  const keepOrRemove = async (name: string, wanted: ReadonlySet<string>) => {
    const file = fileOf(name)
    if (wanted.has(name) && !(await isOfVersion(file))) return [name]
    await unlink(file).catch(() => rm(file, { recursive: true, force: true }))
    return []
  }

  return {
    fileOf,
    keepOnly,
    removeAll: Effect.ignore(keepOnly(new Set())),

    remove: (sha256: string) => Effect.ignore(retryHeldOpen(fs.remove(fileOf(sha256), { force: true }))),

    /**
     * Moves a finished download into a version, whose folders must exist. In further places, the file is a link or a
     * copy.
     */
    moveTo: (sha256: string, file: string, others: ReadonlyArray<string>) =>
      move(fileOf(sha256), file).pipe(
        Effect.zipRight(Effect.forEach(others, (other) => linkOrCopy(file, other), { discard: true })),
        Effect.provideService(FileSystem.FileSystem, fs),
        mapDiskError("write", file)
      )
  }
})

/** A file that is also linked into a version must not be written to. */
const isOfVersion = async (file: string): Promise<boolean> => {
  const stats = await stat(file)
  return !stats.isFile() || stats.nlink > 1
}
