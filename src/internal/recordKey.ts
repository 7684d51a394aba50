/**
 * The keys of records in a document.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"

/** Fields that identify a record together, each a path with dots, `slug.current`. */
export type RecordKey = ReadonlyArray<string>

/** The default key of records. */
export const defaultKey: RecordKey = ["id"]

/** The values of a key in a record as one text; `None` if a value is neither text nor number. */
export const recordId = (key: RecordKey): ((record: unknown) => Option.Option<string>) => {
  const paths = key.map((field) => field.split("."))
  return (record) => {
    const parts = paths.map((path) => path.reduce(partOf, record))
    return parts.every(isIdentity)
      ? Option.some(parts.length === 1 ? String(parts[0]) : parts.map(escaped).join("/"))
      : Option.none()
  }
}

/** Escapes slashes in a value, because slashes separate values. */
const escaped = (part: unknown): string => String(part).replace(/[\\/]/g, "\\$&")

const partOf = (value: unknown, name: string): unknown =>
  Predicate.isReadonlyRecord(value) && Object.hasOwn(value, name) ? value[name] : undefined

const isIdentity = (value: unknown): boolean => Predicate.isString(value) || Number.isFinite(value)
