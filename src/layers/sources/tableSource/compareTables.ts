/**
 * What is different in saved tables.
 *
 * Of the records of a table, only ids and digests are held, and one record at a time: their form puts the beginning and the
 * end of each on a line of its own.
 */
import { createHash } from "node:crypto"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { fileName } from "../../../internal/FileName.ts"
import { explain } from "../../../internal/systemError.ts"
import type { DocumentChanges } from "../../../services/ContentCheck.ts"
import type { FetchTarget } from "../../../services/ContentSource.ts"
import type { AttachmentCells } from "./AttachmentCells.ts"
import type { CheckedTable } from "./TableCheck.ts"
import { TableNotSaved } from "./TableNotSaved.ts"

/** Digests by the ids of records, or by keys. */
type Digests = ReadonlyMap<string, string>

/** What would change in a table, if what was fetched into the directory is another version. */
export const compareTable = Effect.fnUntraced(function* (
  { holds, table }: Pick<CheckedTable, "holds" | "table">,
  { directory, previous }: Pick<FetchTarget, "directory" | "previous">,
  cells: AttachmentCells
) {
  const path = yield* Path.Path
  const name = `${fileName(table)}.json`
  const digestsIn = (folder: string) =>
    readDigests(path.join(folder, name), holds, cells).pipe(
      Effect.mapError(
        (cause) =>
          new TableNotSaved({
            table,
            detail: `cannot read ${name}: ${cause._tag === "ParseError" ? cause.message : explain(cause)}`,
            cause
          })
      )
    )
  const after = yield* digestsIn(directory)
  const before = yield* Option.match(
    Option.filter(previous, ({ files }) => Object.hasOwn(files, name)),
    {
      onNone: () => Effect.succeed<Digests>(new Map()),
      onSome: ({ directory }) => digestsIn(directory)
    }
  )
  const kept = [...after].filter(([id]) => before.has(id))
  return {
    document: table,
    path: name,
    records: after.size,
    added: after.size - kept.length,
    changed: kept.filter(([id, digest]) => before.get(id) !== digest).length,
    removed: before.size - kept.length
  } satisfies DocumentChanges
})

const readDigests = Effect.fnUntraced(function* (
  file: string,
  holds: CheckedTable["holds"],
  cells: AttachmentCells
) {
  const fs = yield* FileSystem.FileSystem
  const digest = (value: unknown) =>
    createHash("sha256")
      .update(JSON.stringify(cells.withoutVolatileParts(value)))
      .digest("base64")
  const digests = new Map<string, string>()

  if (holds === "keys") {
    const values = yield* decodeObject(yield* fs.readFileString(file))
    for (const [key, value] of Object.entries(values)) {
      digests.set(key, digest(value))
    }
    return digests
  }
  let lines: Array<string> = []
  yield* fs.stream(file).pipe(
    Stream.decodeText(),
    Stream.splitLines,
    Stream.runForEach((line) => {
      if (line === "  {") lines = []
      lines.push(line)
      return line === "  }" || line === "  },"
        ? Effect.map(decodeRecord(lines.join("\n").replace(/,$/, "")), (record) => {
            digests.set(record.id, digest(record))
          })
        : Effect.void
    })
  )
  return digests
})

const JsonObject = Schema.Record({ key: Schema.String, value: Schema.Unknown })

const decodeObject = Schema.decode(Schema.parseJson(JsonObject))
const decodeRecord = Schema.decode(
  Schema.parseJson(Schema.extend(Schema.Struct({ id: Schema.String }), JsonObject))
)
