/**
 * The small file that a source keeps between fetches, over restarts: what it had, what somebody has accepted, and what
 * its servers have said.
 */
import { join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import * as SynchronizedRef from "effect/SynchronizedRef"
import * as JsonFile from "../../files/JsonFile.ts"
import { optional } from "../../internal/schemas.ts"
import { SourceFolder } from "../../services/ContentSource.ts"
import { Warning } from "../../services/Warning.ts"
import { MediaIndex } from "./media/mediaIndex.ts"

/** The records and fields of a document in earlier versions. */
const Had = Schema.Struct({
  /** The number of records; 1 for a value that is not empty. */
  count: Schema.Number,
  /** The number in the last version: less than `count` if records are gone. */
  now: Schema.Number,
  /** The fields that half of at least ten records had, and what they were, such as `tags (list)`. */
  fields: Schema.Array(Schema.String),
  /** The fields that all records of a smaller document had. */
  names: Schema.optionalWith(Schema.Array(Schema.String), { default: () => [] })
})
export type Had = typeof Had.Type

const Known = Schema.Struct({
  /** A digest of the options. */
  options: Schema.String,
  /** By the names of the documents; the files have an empty name. */
  had: Schema.Record({ key: Schema.String, value: Had }),
  accepted: Schema.Array(Warning.pick("code", "subject"))
})
export type Known = typeof Known.Type

/** A version of the source, as it was last read. */
const ReadSource = Schema.Struct({
  fingerprint: Schema.String,
  /** The index of its files. It is newer than the index of the version, because servers may have sent new tags since. */
  index: MediaIndex
})
export type ReadSource = typeof ReadSource.Type

const Kept = Schema.Struct({
  /** The position in the list of changes of a server, which the next run ends. */
  changes: optional(Schema.String),
  files: optional(ReadSource),
  had: optional(Known)
})
export type Kept = typeof Kept.Type

export interface KeptFile {
  readonly read: Effect.Effect<Kept>
  /** Replaces parts. They are lost with the process if the file cannot be written. */
  readonly change: (parts: Kept) => Effect.Effect<void>
}

/** In bytes. The index of very many files takes about a hundred MiB. */
const maxBytes = 512 * 1024 ** 2

/** The file `<source>.json`, read at its first use. Without a folder for it, everything is lost with the process. */
export const make = Effect.fnUntraced(function* (source: string) {
  const fs = yield* FileSystem.FileSystem
  const folder = Option.getOrUndefined(yield* SourceFolder)
  const file = yield* JsonFile.make(folder && join(folder, `${source}.json`), Kept, {
    read: `source "${source}" forgets what it had, and what was accepted`,
    written: `a restart forgets what source "${source}" had, and what was accepted`,
    maxBytes
  })
  const state = yield* SynchronizedRef.make({ kept: Option.none<Kept>(), isSaved: true })
  const readIn = Option.match({
    onNone: () => Effect.map(file.read, ([kept = {}]) => kept),
    onSome: (kept: Kept) => Effect.succeed(kept)
  })

  return {
    read: SynchronizedRef.modifyEffect(state, ({ isSaved, kept }) =>
      Effect.map(readIn(kept), (kept) => [kept, { kept: Option.some(kept), isSaved }])
    ),
    change: (parts) =>
      SynchronizedRef.updateEffect(
        state,
        Effect.fnUntraced(function* (state) {
          const before = yield* readIn(state.kept)
          const kept = { ...before, ...parts }
          const replaced = Struct.pick(before, ...Struct.keys(parts))
          const isSame = state.isSaved && JSON.stringify(parts) === JSON.stringify(replaced)
          if (!isSame && folder !== undefined) {
            yield* Effect.ignore(fs.makeDirectory(folder, { recursive: true }))
          }
          return { kept: Option.some(kept), isSaved: isSame || (yield* file.write([kept])) }
        }, Effect.uninterruptible)
      )
  } satisfies KeptFile
})
