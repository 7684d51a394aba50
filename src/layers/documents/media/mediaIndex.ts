/**
 * The index of the files that documents name, `media/files.json` in the folder of the source.
 *
 * It has each linked file, with what tells whether the file has changed. Other files, such as attachments, are in it
 * only if they have a flaw. A version without such files has no index, and the index of an older version has no flaws.
 */
import { dirname, join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { unfinishedFile } from "../../../files/durable.ts"
import { foldCase } from "../../../files/fileName.ts"
import { sha256OfText } from "../../../files/sha256.ts"
import { explain, move } from "../../../files/systemError.ts"
import { optional } from "../../../internal/schemas.ts"
import type { FetchTarget } from "../../../services/ContentSource.ts"
import { SourceError } from "../../../services/SourceError.ts"
import { failedIn } from "../Document.ts"
import { readBefore } from "../documentFile.ts"
import { savedText, sorted } from "../jsonValues.ts"
import { mediaFolder } from "./mediaTypes.ts"
import { ownIdentity } from "./placeMedia.ts"
import { Flaw } from "./verdict.ts"

const optionalText = optional(Schema.String)

/** A file of a version, the tags that tell whether it has changed, and its flaw. */
const IndexEntry = Schema.Struct({
  /** Its path in the folder of the source. */
  path: Schema.String,
  /** As the server sent them. */
  etag: optionalText,
  lastModified: optionalText,
  /** Without parameters. */
  type: optionalText,
  /** As in the document. */
  version: optionalText,
  flaw: optional(Flaw),
  /** The flaw of a file of the source itself, whether or not documents name it. */
  ownFlaw: optional(Flaw)
})
export type IndexEntry = typeof IndexEntry.Type

/** The entries by the keys of the files. */
export const MediaIndex = Schema.Record({ key: Schema.String, value: IndexEntry })
export type MediaIndex = typeof MediaIndex.Type

/** A file that documents name. */
export interface IndexedFile {
  readonly key: string
  readonly entry: IndexEntry
  readonly sha256: string
  readonly isLinked: boolean
}

/** All linked files, and other files that have a flaw. */
export const indexOf = (files: ReadonlyArray<IndexedFile>): MediaIndex =>
  Object.fromEntries(
    files
      .filter(({ entry, isLinked }) => isLinked || entry.flaw !== undefined)
      .map(({ entry, key }) => [key, entry])
  )

/** The entries for flaws of the source's own files. No other key has this form. */
export const ownFlawed = (flaws: Readonly<Record<string, Flaw>>): MediaIndex =>
  Record.mapEntries(flaws, (ownFlaw, path) => [ownIdentity(path), { path, ownFlaw }])

export const ownFlawsOf = (index: MediaIndex): ReadonlyMap<string, Flaw> =>
  new Map(Object.values(index).flatMap(({ ownFlaw, path }) => (ownFlaw ? [[path, ownFlaw]] : [])))

/** Returns the flaw that a file with the same content had in the last version. */
export const flawsOf = (index: MediaIndex, previous: FetchTarget["previous"]) => {
  const files = Option.match(previous, { onNone: () => ({}), onSome: ({ files }) => files })
  const flaws = Object.values(index).flatMap(({ flaw, path }) => {
    const file = Record.get(files, path)
    return flaw === undefined || Option.isNone(file) ? [] : [{ flaw, path, sha256: file.value.sha256 }]
  })
  const byContent = Array.groupBy(flaws, ({ sha256 }) => sha256)
  return (localPath: string, sha256: string): Flaw | undefined =>
    byContent[sha256]?.find(({ flaw, path }) => path === localPath || flaw.wrong === "picture")?.flaw
}

export const withFlaw = <File extends IndexedFile>(file: File, flaw: Flaw | undefined): File => {
  return { ...file, entry: { ...file.entry, flaw } }
}

/** Its path in the folder of the source. */
const indexPath = `${mediaFolder}/files.json`

const decodeIndex = Schema.decodeUnknown(MediaIndex)

/** The index of the last version. If it cannot be read, it is empty, and all files are downloaded. */
export const readIndex = (previous: FetchTarget["previous"]) =>
  Effect.flatMap(readBefore(previous, indexPath), decodeIndex).pipe(
    Effect.orElseSucceed((): MediaIndex => ({}))
  )

/**
 * Writes the index, unless it is empty. Fails if one of the source's own files has its path. Returns digests by path.
 */
export const writeIndex = Effect.fnUntraced(function* (
  index: MediaIndex,
  directory: string,
  own: ReadonlyArray<string>
) {
  if (Object.keys(index).length === 0) return {}
  const taken = own.find((path) => foldCase(path) === foldCase(indexPath))
  if (taken !== undefined) {
    return yield* new SourceError({
      place: taken,
      detail: "Vitrine writes a file of this name beside files of links. Rename your file."
    })
  }
  const fileSystem = yield* FileSystem.FileSystem
  const text = savedText(sorted(index))
  const file = join(directory, indexPath)
  const unfinished = unfinishedFile(file)
  yield* fileSystem.makeDirectory(dirname(file), { recursive: true }).pipe(
    Effect.zipRight(fileSystem.writeFileString(unfinished, text)),
    Effect.zipRight(move(unfinished, file)),
    Effect.mapError((cause) =>
      failedIn({ document: indexPath })(`it cannot be written: ${explain(cause)}`, cause)
    )
  )
  return { [indexPath]: sha256OfText(text) }
})
