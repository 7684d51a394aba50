/**
 * The small file that a source keeps between fetches, over restarts. Its parts belong to several modules.
 */
import { basename, dirname, join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import { removeUnfinished, replaceFile } from "../../files/durable.ts"
import { explain } from "../../files/systemError.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import { SourceFolder } from "../../services/ContentSource.ts"

type Parts = Readonly<Record<string, unknown>>

const decodeParts = Schema.decode(
  Schema.parseJson(Schema.Record({ key: Schema.String, value: Schema.Unknown }))
)
const parse = Schema.decodeOption(Schema.parseJson())

/** One module after the other reads and replaces a file. */
const { withPermits } = Effect.unsafeMakeSemaphore(1)

/**
 * A part of the file `<source>.json`. After a power failure, it has the old value or the new. Nothing is kept if the
 * controller has no folder for the file, or if it cannot be written, which is logged once until it works again.
 */
export const keptPart = Effect.fnUntraced(function* <A, I>(
  source: string,
  part: "changes" | "files" | "had",
  schema: Schema.Schema<A, I>
) {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* SourceFolder
  const inFolder = (name: string) => Option.map(folder, (folder) => join(folder, name))
  const file = inFolder(`${source}.json`)
  const writing = makeWarnWhile(
    (reason) =>
      `Source "${source}": what it remembers cannot be saved, such as accepted warnings. A restart forgets it: ${reason}`
  )
  /** Earlier versions had a file for each part, with JSON or with a text. */
  const earlier = inFolder(`${source}.${part}`)
  yield* Effect.ignore(
    Effect.flatMap(file, (file) => Effect.tryPromise(() => removeUnfinished(dirname(file), basename(file))))
  )
  const parts = Effect.flatMap(file, fs.readFileString).pipe(
    Effect.flatMap(decodeParts),
    Effect.orElseSucceed((): Parts => ({}))
  )
  const replace = (change: (parts: Parts) => Parts) =>
    Effect.gen(function* () {
      const path = yield* file
      const before = yield* parts
      const next = JSON.stringify(change(before))
      if (next !== JSON.stringify(before)) {
        yield* fs.makeDirectory(dirname(path), { recursive: true })
        yield* replaceFile(path, next)
      }
      yield* Effect.flatMap(earlier, (path) => fs.remove(path, { force: true }))
      yield* writing.works
    }).pipe(
      withPermits(1),
      Effect.catchTag("SystemError", (error) => writing.fails(explain(error))),
      Effect.ignore,
      Effect.provideService(FileSystem.FileSystem, fs)
    )

  return {
    read: Effect.flatMap(parts, Record.get(part)).pipe(
      Effect.orElse(() =>
        Effect.map(Effect.flatMap(earlier, fs.readFileString), (text) =>
          Option.getOrElse(parse(text), () => text)
        )
      ),
      Effect.flatMap(Schema.decodeUnknown(schema)),
      Effect.option
    ),
    remove: replace((parts) => Record.remove(parts, part)),
    write: (value: A) =>
      Effect.flatMap(Schema.encode(schema)(value), (encoded) =>
        replace((parts) => ({ ...parts, [part]: encoded }))
      ).pipe(Effect.ignore)
  }
})
