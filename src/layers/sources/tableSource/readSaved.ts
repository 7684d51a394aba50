/**
 * Reading the file of a saved table.
 *
 * The form of these files puts the beginning and the end of each record on a line of its own: one record at a time is held.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

/** What a table has: records, or the keys of a key/value table. */
export type Holds = "records" | "keys"

/** A record by its id, or the value of a key. */
export type SavedEntry = readonly [name: string, value: unknown]

export const readSaved = (file: string, holds: Holds) =>
  Stream.unwrap(
    Effect.map(FileSystem.FileSystem, (fs) =>
      holds === "keys"
        ? Stream.fromIterableEffect(
            Effect.map(Effect.flatMap(fs.readFileString(file), decodeObject), Object.entries<unknown>)
          )
        : fs.stream(file).pipe(
            Stream.decodeText(),
            Stream.splitLines,
            Stream.mapAccum("", nextRecord),
            Stream.filterMap((record) => record),
            Stream.mapEffect(decodeRecord),
            Stream.map((record): SavedEntry => [record.id, record])
          )
    )
  )

/** The text of a record where the line is its last one. */
const nextRecord = (before: string, line: string): readonly [string, Option.Option<string>] => {
  const record = line === "  {" ? line : `${before}\n${line}`
  return line === "  }" || line === "  },"
    ? ["", Option.some(record.replace(/,$/, ""))]
    : [record, Option.none()]
}

const JsonObject = Schema.Record({ key: Schema.String, value: Schema.Unknown })

const decodeObject = Schema.decode(Schema.parseJson(JsonObject))
const decodeRecord = Schema.decode(
  Schema.parseJson(Schema.extend(Schema.Struct({ id: Schema.String }), JsonObject))
)
