/**
 * The index of the media files of a version: `media/files.json` in the folder of the source.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { optional } from "../../../internal/schemas.ts"
import type { PreviousContent, SourceFile } from "../../../services/ContentSource.ts"
import { isMediaPath, mediaFolder } from "./fileNames.ts"

const optionalText = optional(Schema.String)

/** A file, and the tags that tell whether it has changed. */
export const IndexEntry = Schema.Struct({
  /** Its path in the folder of the source. */
  path: Schema.String.pipe(Schema.filter(isMediaPath)),
  /** As the server sent them. */
  etag: optionalText,
  lastModified: optionalText,
  /** Without parameters. */
  type: optionalText,
  /** As in the document. */
  version: optionalText
})
export type IndexEntry = typeof IndexEntry.Type

/** By the keys of the files. */
export const MediaIndex = Schema.Record({ key: Schema.String, value: IndexEntry })
export type MediaIndex = typeof MediaIndex.Type

/** Its path in the folder of the source. */
export const indexPath = `${mediaFolder}/files.json`

/** A file of the last version. */
export interface RememberedFile extends IndexEntry, SourceFile {}

const decodeIndex = Schema.decodeUnknown(Schema.parseJson(MediaIndex))

/** The index of the last version. If it cannot be read, it is empty, and all files are downloaded. */
export const read = Effect.fnUntraced(function* ({ directory, files }: PreviousContent) {
  if (!Object.hasOwn(files, indexPath)) return {}
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  return yield* fileSystem.readFileString(path.join(directory, indexPath)).pipe(
    Effect.flatMap(decodeIndex),
    Effect.orElseSucceed((): MediaIndex => ({}))
  )
})

/** The file of a key, if the last version has all of it. */
export const remembered = (
  index: MediaIndex,
  files: PreviousContent["files"],
  key: string
): Option.Option<RememberedFile> =>
  Option.flatMap(Record.get(index, key), (entry) =>
    Option.map(Record.get(files, entry.path), (file) => ({ ...entry, ...file }))
  )
