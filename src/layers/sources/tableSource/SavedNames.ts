/**
 * What is in the file of a saved table, without its cells.
 *
 * The form of these files puts each record, each field and each key on a line of its own: lines are read, and one at a time is
 * held. Of a table, what was read last is remembered, by the digest of the file.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { PreviousContent } from "../../../services/ContentSource.ts"

export interface SavedNames {
  /** Of the fields of all records, or all keys. */
  readonly names: ReadonlySet<string>
  /** Of the records, or of the keys. */
  readonly count: number
}

type Holds = "records" | "keys"

/** Gives what the version before has in a file; none where it is not there, or not whole. */
export const makeSavedNames = () => {
  const latest = new Map<string, SavedNames & { readonly sha256: string }>()
  return Effect.fnUntraced(function* (
    previous: Option.Option<PreviousContent>,
    file: string,
    holds: Holds
  ): Effect.fn.Return<Option.Option<SavedNames>, never, FileSystem.FileSystem | Path.Path> {
    const saved = Option.flatMap(previous, ({ directory, files }) =>
      Option.map(Record.get(files, file), ({ sha256 }) => ({ directory, sha256 }))
    )
    if (Option.isNone(saved)) {
      return Option.none()
    }
    const { directory, sha256 } = saved.value
    const known = latest.get(file)
    if (known?.sha256 === sha256) {
      return Option.some(known)
    }
    const path = yield* Path.Path
    const read = yield* Effect.option(readNames(path.join(directory, file), holds))
    if (Option.isSome(read)) {
      latest.set(file, { ...read.value, sha256 })
    }
    return read
  })
}

const readNames = Effect.fnUntraced(function* (file: string, holds: Holds) {
  const fs = yield* FileSystem.FileSystem
  const names = new Set<string>()
  let count = 0
  yield* fs.stream(file).pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.runForEach((line) =>
      Effect.sync(() => {
        const name = nameIn(line, holds === "records" ? 4 : 2)
        if (holds === "records" ? line === "  {" : name !== undefined) count++
        if (name !== undefined && names.size < maxNames) names.add(name)
      })
    )
  )
  return { names, count } satisfies SavedNames
})

const maxNames = 1000

const quotedName = /^"(?:[^"\\]|\\.)*"/

const decodeName = Schema.decodeOption(Schema.parseJson(Schema.String))

/** The name that stands at this depth. */
const nameIn = (line: string, depth: number): string | undefined => {
  const start = line.slice(depth)
  const quoted = line.slice(0, depth).trim() === "" ? quotedName.exec(start)?.[0] : undefined
  return quoted === undefined ? undefined : Option.getOrUndefined(decodeName(quoted))
}
