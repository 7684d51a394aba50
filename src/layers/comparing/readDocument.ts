/**
 * Documents out of the bytes of their files.
 *
 * In the form that Vitrine saves tables in, each record begins and ends on a line of its own: only where records are, and
 * what their ids are, is found out, and a record is parsed when its value is asked for. JSON of another form is parsed as a
 * whole, up to 16 MiB.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { Document } from "./compareDocuments.ts"

/** In bytes; parsed it takes several times as much memory. */
const maxParsed = 16 * 1024 * 1024

/** `None` where they are no JSON, or neither records nor keys. */
export const readDocument = (bytes: Buffer): Option.Option<Document> =>
  Option.orElse(savedRecords(bytes.toString("latin1")), () =>
    bytes.length <= maxParsed ? Option.flatMap(parse(bytes.toString()), documentOf) : Option.none()
  )

const parse = Option.liftThrowable((text: string): unknown => JSON.parse(text))

/** A parsed document: an array of records, each with an `id` of its own, or an object of keys and values. */
export const documentOf = (value: unknown): Option.Option<Document> => {
  if (!Array.isArray(value)) {
    return Predicate.isReadonlyRecord(value)
      ? Option.some(ofEntries("keys", new Map(Object.entries(value))))
      : Option.none()
  }
  const records = new Map<string, unknown>()
  for (const record of value) {
    if (!Predicate.hasProperty(record, "id") || !Predicate.isString(record.id)) return Option.none()
    records.set(record.id, record)
  }
  return records.size === value.length ? Option.some(ofEntries("records", records)) : Option.none()
}

const ofEntries = (holds: Document["holds"], entries: ReadonlyMap<string, unknown>): Document => ({
  holds,
  ids: [...entries.keys()],
  has: (id) => entries.has(id),
  valueOf: (id) => entries.get(id)
})

interface Place {
  readonly start: number
  readonly end: number
}

const opening = "[\n"
const beginning = '  {\n    "id": '
const ending = "\n  }"

/** `None` where the form is another one. A character of the text is a byte, so that it takes no more memory than the file. */
const savedRecords = (text: string): Option.Option<Document> => {
  if (!text.startsWith(opening)) return Option.none()
  const places = new Map<string, Place>()
  for (let start = opening.length, count = 1; text.startsWith(beginning, start); count++) {
    const id = idAt(text, start + beginning.length)
    const last = text.indexOf(ending, start)
    if (id === undefined || last === -1) return Option.none()
    const end = last + ending.length
    places.set(id, { start, end })
    if (places.size < count) return Option.none()
    if (!text.startsWith(",\n", end)) {
      return text.startsWith("\n]", end) ? Option.some(ofPlaces(text, places)) : Option.none()
    }
    start = end + 2
  }
  return Option.none()
}

const plainId = /"([\w-]*)",?\n/y

/** The id that is on the rest of this line. */
const idAt = (text: string, start: number): string | undefined => {
  plainId.lastIndex = start
  const plain = plainId.exec(text)
  if (plain !== null) return plain[1]
  const line = decode(text.slice(start, text.indexOf("\n", start)))
  return Option.getOrUndefined(
    Option.filter(parse(line.endsWith(",") ? line.slice(0, -1) : line), Predicate.isString)
  )
}

const ofPlaces = (text: string, places: ReadonlyMap<string, Place>): Document => {
  const textOf = (id: string) => {
    const { end, start } = places.get(id) ?? { start: 0, end: 0 }
    return text.slice(start, end)
  }
  return {
    holds: "records",
    ids: [...places.keys()],
    has: (id) => places.has(id),
    valueOf: (id) => JSON.parse(decode(textOf(id))),
    textOf
  }
}

/** Text of bytes as characters. */
const decode = (bytes: string): string =>
  /[\x80-\xff]/.test(bytes) ? Buffer.from(bytes, "latin1").toString() : bytes
