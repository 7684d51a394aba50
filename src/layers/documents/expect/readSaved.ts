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

/** The records of a table. */
export const readRecords = (file: string) =>
  Stream.unwrap(
    Effect.map(FileSystem.FileSystem, (fs) =>
      fs.stream(file).pipe(
        Stream.decodeText(),
        Stream.splitLines,
        Stream.mapAccum("", nextRecord),
        Stream.filterMap((record) => record),
        Stream.mapEffect(decodeObject)
      )
    )
  )

/** The keys of a key/value table. */
export const readKeys = (file: string) =>
  Stream.fromIterableEffect(
    Effect.flatMap(FileSystem.FileSystem, (fs) =>
      Effect.map(Effect.flatMap(fs.readFileString(file), decodeObject), Object.keys)
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
