/**
 * Describes the content of a document for people who have not seen it.
 */
import * as Predicate from "effect/Predicate"
import mime from "mime"
import { printableLine } from "../../internal/printable.ts"
import type { SampledDocument } from "../../services/ContentSample.ts"

type Fields = Readonly<Record<string, unknown>>

const maxRecords = 100
const maxFields = 100
const maxLinks = 20
const maxDepth = 20

export const describeDocument = (json: unknown): Omit<SampledDocument, "path"> => {
  const records = Array.isArray(json) ? json.slice(0, maxRecords) : [json]
  return {
    holds: Array.isArray(json) ? "records" : "value",
    records: Array.isArray(json) ? json.length : 1,
    fields: fieldsOf(records),
    links: linksIn(json)
  }
}

/** The fields of records and of nested objects: `title`, `title.rendered`. */
const fieldsOf = (records: ReadonlyArray<unknown>): SampledDocument["fields"] => {
  const objects = records.filter(Predicate.isReadonlyRecord)
  return namesIn(objects)
    .flatMap((name) => {
      const values = valuesOf(objects, name)
      const inner = values.filter(Predicate.isReadonlyRecord)
      const members = namesIn(inner).map((member) =>
        describeField(`${name}.${member}`, valuesOf(inner, member))
      )
      return [describeField(name, values), ...members]
    })
    .slice(0, maxFields)
}

const namesIn = (objects: ReadonlyArray<object>): ReadonlyArray<string> =>
  [...new Set(objects.flatMap(Object.keys))].slice(0, maxFields)

const valuesOf = (objects: ReadonlyArray<Fields>, name: string) =>
  objects.map((object) => valueOf(object, name))

const valueOf = (object: Fields, name: string): unknown =>
  Object.hasOwn(object, name) ? object[name] : undefined

const describeField = (name: string, values: ReadonlyArray<unknown>): SampledDocument["fields"][number] => {
  const example = values.find((value) => Predicate.isString(value) || Predicate.isNumber(value))
  return {
    field: printableLine(name, 60),
    types: [...new Set(values.map(typeOf))].sort(),
    ...(example === undefined || example === ""
      ? {}
      : { example: printableLine(withoutQuery(String(example)), 40) })
  }
}

const typeOf = (value: unknown): string =>
  Predicate.isNullable(value) || value === ""
    ? "nothing"
    : Array.isArray(value)
      ? "list"
      : Predicate.isString(value)
        ? "text"
        : typeof value

/** Parameters of a link may be secret. */
const withoutQuery = (text: string): string => (isLink(text) ? text.replace(/[?#].*$/s, "") : text)

const isLink = (text: string): boolean => /^(?:https?:\/\/|\.{0,2}\/)\S+$/i.test(text)

const linksIn = (json: unknown): SampledDocument["links"] => {
  const found = new Map<string, { readonly path: string; readonly count: number; readonly example: string }>()

  const visit = (value: unknown, path: ReadonlyArray<string>): void => {
    if (path.length > maxDepth) return
    if (Predicate.isString(value)) {
      const link = withoutQuery(value)
      if (!isLink(value) || !isFile(link)) return
      const place = path.join(".")
      const before = found.get(place)
      if (before === undefined && found.size === maxLinks) return
      const example = before?.example ?? printableLine(link, 120)
      found.set(place, { path: printableLine(place, 200), count: (before?.count ?? 0) + 1, example })
    } else if (Array.isArray(value)) {
      for (const item of value) visit(item, [...path, "*"])
    } else if (Predicate.isReadonlyRecord(value)) {
      for (const [name, member] of Object.entries(value)) {
        visit(member, [...path, name.replace(/[\\.*]/g, "\\$&")])
      }
    }
  }

  visit(json, [])
  return [...found.values()]
}

/** Whether a link leads to something to look at or listen to. */
const isFile = (link: string): boolean => /^(?:image|video|audio)\/|\/pdf$/.test(mime.getType(link) ?? "")
