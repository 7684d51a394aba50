/**
 * What is asked of Strapi's REST API, as names and values of a query string.
 */
import * as Predicate from "effect/Predicate"
import type { StrapiType } from "./StrapiOptions.ts"

export type Parameters = ReadonlyArray<readonly [name: string, value: string]>

/** What a request is about, beside the type. */
export interface Edition {
  readonly status: "published" | "draft"
  /** The server's own without it. */
  readonly locale?: string | undefined
}

/** The most that a server gives at once, unless it is set up otherwise. */
export const pageSize = 100

/**
 * Nested values with the brackets that Strapi reads: `{ a: { b: [1, 2] } }` is `a[b][]=1&a[b][]=2`. Lists of objects have their
 * indices, because brackets without one would not say what belongs together.
 */
export const parameters = (input: Readonly<Record<string, unknown>>): Parameters =>
  Object.entries(input).flatMap(([name, value]) => nested(name, value))

const nested = (name: string, value: unknown): Parameters =>
  Array.isArray(value)
    ? value.flatMap((item, index) => nested(`${name}[${Predicate.isObject(item) ? index : ""}]`, item))
    : Predicate.isReadonlyRecord(value)
      ? Object.entries(value).flatMap(([key, part]) => nested(`${name}[${key}]`, part))
      : Predicate.isNullable(value)
        ? []
        : [[name, String(value)]]

/**
 * One page of a type, counted from 1. `documentId` is the last of what it is sorted by: equal values have no order of their own,
 * and the numeric `id` changes with each publish.
 */
export const page = (
  { fields, filters, populate, sort = [] }: StrapiType,
  edition: Edition,
  number: number
): Parameters =>
  parameters({
    populate,
    filters,
    // Without it, entries in two languages could not be told apart.
    fields: fields === undefined || edition.locale === undefined ? fields : [...fields, "locale"],
    sort: [...[sort].flat(), "documentId:asc"],
    pagination: { page: number, pageSize, withCount: true },
    ...edition
  })

/** Asks for nothing but a field: refused where the type does not have it. */
export const onlyField = (field: string, edition: Edition): Parameters =>
  parameters({ fields: [field], pagination: { pageSize: 1 }, ...edition })

/**
 * The entry that has changed last, and how many there are. Of published entries, `updatedAt` is the date of the draft: a draft from
 * before that is published now does not raise it. Drafts have no date of publication.
 */
export const latest = (edition: Edition): Parameters => {
  const field = latestField(edition)
  return parameters({
    fields: [field],
    sort: [`${field}:desc`],
    pagination: { pageSize: 1, withCount: true },
    ...edition
  })
}

export const latestField = ({ status }: Edition) => (status === "draft" ? "updatedAt" : "publishedAt")

/** The file of the media library that has changed last. */
export const latestFile: Parameters = parameters({ fields: ["updatedAt"], sort: "updatedAt:desc", limit: 1 })
