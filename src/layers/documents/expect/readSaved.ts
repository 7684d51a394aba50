/**
 * Reading the file of a saved document.
 *
 * The form of these files puts the beginning and the end of each record on a line of its own: one record at a time is held.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

/** The items of a list. */
export const readItems = (file: string) =>
  Stream.unwrap(
    Effect.map(FileSystem.FileSystem, (fs) =>
      fs.stream(file).pipe(
        Stream.decodeText(),
        Stream.splitLines,
        Stream.mapAccum("", nextItem),
        Stream.filterMap((item) => item),
        Stream.mapEffect(decode)
      )
    )
  )

/** The one value of a file. */
export const readValue = (file: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) => Effect.flatMap(fs.readFileString(file), decode))

/** The records of a table. */
export const readRecords = (file: string) => Stream.filter(readItems(file), Predicate.isReadonlyRecord)

/** The keys of a key/value table. */
export const readKeys = (file: string) =>
  Stream.fromIterableEffect(
    Effect.map(readValue(file), (value) => (Predicate.isReadonlyRecord(value) ? Object.keys(value) : []))
  )

/** The text of an item where the line is its last one: those of a list are indented by two spaces. */
const nextItem = (before: string, line: string): readonly [string, Option.Option<string>] => {
  const isInside = before !== "" || line === "  {" || line === "  ["
  const item = before === "" ? line : `${before}\n${line}`
  return isInside && !/^ {2}[}\]],?$/.test(line)
    ? [item, Option.none()]
    : ["", item.startsWith("  ") ? Option.some(item.replace(/,$/, "")) : Option.none()]
}

const decode = Schema.decode(Schema.parseJson())
