/**
 * What Strapi 5 answers: entries, pages of them, and refusals.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { Entry } from "./fallback.ts"

/** A page of a collection, or the one entry of a single type. */
export type Answer =
  | {
      readonly kind: "page"
      readonly entries: ReadonlyArray<Entry>
      readonly pageCount: number
      readonly total: number
    }
  | { readonly kind: "single"; readonly entry: Entry }
  /** What came instead, in words. */
  | { readonly kind: "strange"; readonly detail: string }

const isEntry = (value: unknown): value is Entry =>
  Predicate.hasProperty(value, "documentId") && Predicate.isString(value.documentId)

const Pagination = Schema.Struct({
  pagination: Schema.Struct({ pageCount: Schema.NonNegativeInt, total: Schema.NonNegativeInt })
})

const paginationOf = Schema.decodeUnknownOption(Pagination)

export const readAnswer = (body: unknown): Answer => {
  const data = property(body, "data")
  if (isEntry(data)) {
    return { kind: "single", entry: data }
  }
  if (!Array.isArray(data)) {
    return isOld(data) ? old : { kind: "strange", detail: 'it has no entries in "data"' }
  }
  if (!data.every(isEntry)) {
    return data.some(isOld) ? old : { kind: "strange", detail: 'an entry has no "documentId"' }
  }
  return Option.match(paginationOf(property(body, "meta")), {
    onNone: () => ({ kind: "strange", detail: 'it says no "pageCount" and "total" in "meta.pagination"' }),
    onSome: ({ pagination }) => ({ kind: "page", entries: data, ...pagination })
  })
}

/** Version 4 has what is in an entry one level deeper. */
const isOld = (value: unknown): boolean => Predicate.hasProperty(value, "attributes")

const old: Answer = { kind: "strange", detail: 'its entries have "attributes", as those of version 4' }

/** The date of the file that has changed last: the media library is a bare list. */
export const readLatestFile = (body: unknown): string =>
  Array.isArray(body) ? textOf(property(body[0], "updatedAt")) : ""

/** What Strapi says when it refuses a request, as it came: unbounded; empty where it says nothing. */
export interface Refusal {
  /** As in `ValidationError`. */
  readonly name: string
  readonly message: string
  /** What a `ValidationError` is about, and the parameter that it stands in. */
  readonly key: string
  readonly param: string
}

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
