/**
 * Requests to the REST API of Strapi, their query strings, and what to do if Strapi refuses a request.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import { excerpt } from "../../../internal/printable.ts"
import type { SourceError } from "../../../services/SourceError.ts"
import * as Cms from "../../documents/Cms.ts"
import { pageSize, readRefusal } from "./responses.ts"
import type { StrapiOptions, StrapiType } from "./StrapiOptions.ts"

/** `name` is the name of a type. */
export type Ask = (name: string, parameters: Parameters) => Effect.Effect<unknown, SourceError>

export const makeAsk = (options: StrapiOptions) =>
  Effect.map(
    Cms.makeAsk(strapi, options),
    (ask): Ask =>
      (name, parameters) =>
        ask(name, `api/${name}`, parameters)
  )

export const strapi: Cms.Vendor = {
  name: "Strapi",
  address: 'the address of a Strapi 5 without "/api"',
  option: "types",
  filter: "filters",
  items: "entries",
  readRefusal,
  advice: (type, status, hasToken, { key = "", name, param = "" }) => {
    switch (status) {
      case 400:
        return name === "ValidationError" && key !== ""
          ? `"${excerpt(key)}" in "${excerpt(param)}" is nothing that ${type} has, or nothing that the token may read. Check "types.${type}"`
          : `Strapi does not understand what is asked of ${type}. Check "types.${type}"`
      case 401:
        return hasToken
          ? 'Strapi does not accept the token. Check "token": in Strapi, Settings, API Tokens shows whether it has expired'
          : `Strapi gives ${type} with a token only. Set "token" to one of Settings, API Tokens`
      case 403:
        return hasToken
          ? `The token may not read ${type}: in Strapi, Settings, API Tokens, allow "find" of it, or use a token that is read-only`
          : `Without a token, ${type} may not be read: set "token", or in Strapi, Settings, Users & Permissions, Roles, Public, allow "find" of it`
      case 404:
        return `Strapi has no ${type}. A collection goes by its plural ("articles"), a single type by its singular ("homepage"), as the Content-Type Builder names them in lower case; of a single type something has to be published`
      default:
        return undefined
    }
  }
}

export type Parameters = ReadonlyArray<readonly [name: string, value: string]>

/** Which entries of a type a request asks for. */
export interface Edition {
  readonly status: "published" | "draft"
  /** Default the default language of the server. */
  readonly locale?: string | undefined
}

/**
 * Nested values in brackets: `{ a: { b: [1, 2] } }` is `a[b][]=1&a[b][]=2`. Lists of objects have indices: with empty brackets, Strapi
 * could not tell which values belong to the same object.
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
 * One page of a type; the first page is 1. Entries are sorted by `documentId` last: equal values have no order, and the numeric `id`
 * changes with each publish.
 */
export const page = (
  { fields, filters, populate, sort = [] }: StrapiType,
  edition: Edition,
  number: number
): Parameters =>
  parameters({
    populate,
    filters,
    // Without `locale`, entries in two languages could not be told apart.
    fields: fields === undefined || edition.locale === undefined ? fields : [...fields, "locale"],
    sort: [...[sort].flat(), "documentId:asc"],
    pagination: { page: number, pageSize, withCount: true },
    ...edition
  })

/** Asks for one field only. Strapi refuses if the type does not have the field. */
export const onlyField = (field: string, edition: Edition): Parameters =>
  parameters({ fields: [field], pagination: { pageSize: 1 }, ...edition })
