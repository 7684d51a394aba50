/**
 * What identifies the records of a document.
 */
import * as Array from "effect/Array"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"

/** Fields that identify a record together, each a path with dots, `slug.current`. */
export type RecordKey = ReadonlyArray<string>

/** Of a record that says no other one. */
export const defaultKey: RecordKey = ["id"]

/** The values of a key in a record as one text; `None` where one of them is no text and no number. */
export const recordId = (key: RecordKey): ((record: unknown) => Option.Option<string>) => {
  const paths = key.map((field) => field.split("."))
  return (record) =>
    Option.map(Option.all(Array.map(paths, (path) => partOf(record, path))), (parts) => parts.join("/"))
}

const partOf = (record: unknown, path: ReadonlyArray<string>): Option.Option<string> => {
  const value = path.reduce(
    (value, name) =>
      Predicate.isReadonlyRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined,
    record
  )
  return Predicate.isString(value) || Number.isFinite(value) ? Option.some(String(value)) : Option.none()
}
