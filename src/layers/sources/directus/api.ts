/**
 * Requests to Directus, its responses, and what to do if Directus refuses a request.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { SourceError } from "../../../services/SourceError.ts"
import type { CollectionAnswer, Refusal } from "../../documents/Cms.ts"
import * as Cms from "../../documents/Cms.ts"
import type { DirectusOptions } from "./DirectusOptions.ts"

export type Item = Readonly<Record<string, unknown>>

const Item = Schema.declare(Predicate.isReadonlyRecord)

/** With PostgreSQL, numbers of rows are texts. */
const Count = Schema.Union(Schema.NonNegativeInt, Schema.NumberFromString.pipe(Schema.nonNegative()))

/** The length of a page of a server with default settings. */
const pageSize = 100

const Page = Schema.Struct({ data: Schema.Array(Item), meta: Schema.Struct({ filter_count: Count }) })
const Single = Schema.Struct({ data: Item })

const pageOf = Schema.decodeUnknownOption(Page)
const singleOf = Schema.decodeUnknownOption(Single)

export const readAnswer = (body: unknown): CollectionAnswer<Item> => {
  const page = pageOf(body)
  if (Option.isSome(page)) {
    return { kind: "page", items: page.value.data, total: page.value.meta.filter_count, size: pageSize }
  }
  return Option.match(singleOf(body), {
    onNone: () => ({
      kind: "strange",
      detail: 'it has no items in "data", or does not say how many there are'
    }),
    onSome: ({ data }) => ({ kind: "single", item: data })
  })
}

const decodeErrors = Schema.decodeUnknownOption(
  Schema.Struct({
    errors: Schema.NonEmptyArray(
      Schema.Struct({ message: Schema.String, extensions: Schema.Struct({ code: Schema.String }) })
    )
  })
)

export const readRefusal = (body: unknown): Refusal =>
  Option.match(decodeErrors(body), {
    onNone: () => ({ name: "", message: "" }),
    onSome: ({ errors: [{ extensions, message }] }) => ({
      // Without a name, the message says to check "url": it leads to another part of Directus.
      name: extensions.code === "ROUTE_NOT_FOUND" ? "" : extensions.code,
      message
    })
  })

/** Texts are sent as they are, lists with commas, objects as JSON. */
export type Parameters = Readonly<Record<string, unknown>>

/** `name` is the name of a collection. */
export type Ask = (name: string, parameters: Parameters) => Effect.Effect<unknown, SourceError>

export const makeAsk = (options: DirectusOptions) =>
  Effect.map(
    Cms.makeAsk(directus, options),
    (ask): Ask =>
      (name, parameters) =>
        ask(name, `items/${name}`, textsOf(parameters))
  )

const textsOf = (parameters: Parameters) =>
  Object.entries(parameters).flatMap(
    ([name, value]): ReadonlyArray<[string, string]> =>
      value === undefined
        ? []
        : [[name, Predicate.isReadonlyRecord(value) ? JSON.stringify(value) : String(value)]]
  )

export const directus: Cms.Vendor = {
  name: "Directus",
  address: "the address of the server",
  option: "collections",
  filter: "filter",
  items: "items",
  readRefusal,
  advice: (collection, status, hasToken) => {
    switch (status) {
      case 400:
        return `Directus does not understand what is asked of ${collection}. Check "collections.${collection}"`
      case 401:
        return 'Directus does not accept the token. Check "token": in Directus, User Directory, make a new one for the user, whose status is to be "Active", and save'
      case 403:
        return hasToken
          ? `The token may not read ${collection}, or it does not have what "collections.${collection}" names: in Directus, Settings, Access Policies, allow "read" of it, of what its relations lead to, and of "Directus Files"`
          : `Without a token, ${collection} may not be read, or it does not have what "collections.${collection}" names: set "token", or in Directus, Settings, Access Policies, Public, allow "read" of it`
      default:
        return undefined
    }
  }
}
