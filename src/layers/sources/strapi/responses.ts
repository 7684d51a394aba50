/**
 * Responses of Strapi 5: entries, pages and errors, and the volatile parts of entries.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Schema from "effect/Schema"
import type { CollectionAnswer, Refusal } from "../../documents/Cms.ts"
import { type JsonObject, mapObjects } from "../../documents/mapObjects.ts"

/** The longest page that a server with default settings gives. */
export const pageSize = 100

/** An entry as Strapi gives it. */
export type Entry = Readonly<Record<string, unknown>> & { readonly documentId: string }

type Answer = CollectionAnswer<Entry>

const isEntry = (value: unknown): value is Entry =>
  Predicate.hasProperty(value, "documentId") && Predicate.isString(value.documentId)

const paginationOf = Schema.decodeUnknownOption(
  Schema.Struct({
    pagination: Schema.Struct({
      pageCount: Schema.NonNegativeInt,
      pageSize: Schema.NonNegativeInt.pipe(Schema.optionalWith({ default: () => pageSize })),
      total: Schema.NonNegativeInt
    })
  })
)

export const readAnswer = (body: unknown): Answer => {
  const data = property(body, "data")
  if (isEntry(data)) {
    return { kind: "single", item: data }
  }
  if (!Array.isArray(data)) {
    return isOld(data) ? old : { kind: "strange", detail: 'it has no entries in "data"' }
  }
  if (!data.every(isEntry)) {
    return data.some(isOld) ? old : { kind: "strange", detail: 'an entry has no "documentId"' }
  }
  return Option.match(paginationOf(property(body, "meta")), {
    onNone: () => ({ kind: "strange", detail: 'it says no "pageCount" and "total" in "meta.pagination"' }),
    onSome: ({ pagination: { pageCount, pageSize, total } }) => ({
      kind: "page",
      items: data,
      total,
      pages: pageCount,
      size: pageSize
    })
  })
}

/** Version 4 has the fields of an entry in `attributes`. */
const isOld = (value: unknown): boolean => Predicate.hasProperty(value, "attributes")

const old: Answer = { kind: "strange", detail: 'its entries have "attributes", as those of version 4' }

export const readRefusal = (body: unknown): Refusal => {
  const error = property(body, "error")
  const details = property(error, "details")
  return {
    name: textOf(property(error, "name")),
    message: textOf(property(error, "message")),
    key: textOf(property(details, "key")),
    param: textOf(property(details, "param"))
  }
}

const property = (value: unknown, name: string): unknown =>
  Predicate.hasProperty(value, name) ? value[name] : undefined

const textOf = (value: unknown): string => (Predicate.isString(value) ? value : "")

/**
 * Removes what changes without an edit, at any depth: numeric ids and `publishedAt`, which each publish changes, and signatures of links
 * to private files, which each response has anew. `updatedAt` stays: it changes with an edit.
 */
export const lasting = (value: unknown): unknown =>
  mapObjects(value, ({ publishedAt: _, ...object }) =>
    unsigned(Predicate.isNumber(object.id) ? Record.remove(object, "id") : object)
  )

const unsigned = (object: JsonObject): JsonObject =>
  object.isUrlSigned === true && Predicate.isString(object.url)
    ? { ...object, url: object.url.replace(/\?.*$/s, "") }
    : object
