/**
 * Requests to Directus, its responses, the items of a collection page by page, and what to do if Directus refuses a
 * request.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { SourceError } from "../../../services/SourceError.ts"
import * as Cms from "../../documents/Cms.ts"
import { property } from "../../documents/jsonValues.ts"
import { notice } from "../../documents/warnings.ts"
import { ListChanged, type ListProgress } from "../../documents/wholeList.ts"
import type { Collection } from "./DirectusOptions.ts"
import { type Item, translationsField } from "./languages.ts"

const ItemSchema = Schema.declare(Predicate.isReadonlyRecord)

/** With PostgreSQL, counts of rows are texts. */
const Count = Schema.Union(Schema.NonNegativeInt, Schema.NumberFromString.pipe(Schema.nonNegative()))

/** The length of a page of a server with default settings. */
const pageSize = 100

const Page = Schema.Struct({ data: Schema.Array(ItemSchema), meta: Schema.Struct({ filter_count: Count }) })
const Single = Schema.Struct({ data: ItemSchema })

const pageOf = Schema.decodeUnknownOption(Page)
const singleOf = Schema.decodeUnknownOption(Single)

export const readAnswer = (body: unknown): Cms.CollectionAnswer<Item> => {
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

export const readRefusal = (body: unknown): Cms.Refusal =>
  Option.match(decodeErrors(body), {
    onNone: () => ({ name: "", message: "" }),
    onSome: ({ errors: [{ extensions, message }] }) => ({
      // Without a name, the message says to check "url": it leads to another part of Directus.
      name: extensions.code === "ROUTE_NOT_FOUND" ? "" : extensions.code,
      message
    })
  })

/** Texts are sent without changes, lists with commas, objects as JSON. */
const textsOf = (parameters: Item) =>
  Object.entries(parameters).flatMap(
    ([name, value]): Cms.Parameters =>
      value === undefined
        ? []
        : [[name, Predicate.isReadonlyRecord(value) ? JSON.stringify(value) : String(value)]]
  )

export const directus: Cms.Vendor = {
  name: "Directus",
  path: "items",
  address: "the address of the server",
  option: "collections",
  filter: "filter",
  items: "items",
  readRefusal,
  advice: (collection, status, hasToken) => {
    switch (status) {
      case 400:
        return `Directus does not understand the request for ${collection}. Check "collections.${collection}"`
      case 401:
        return 'Directus does not accept the token. Check "token": in Directus, User Directory, make a new token for the user, whose status must be "Active", and save'
      case 403:
        return hasToken
          ? `The token may not read ${collection}, or it lacks a field of "collections.${collection}": in Directus, Settings, Access Policies, allow "read" of it, of the collections of its relations, and of "Directus Files"`
          : `Without a token, ${collection} may not be read, or it lacks a field of "collections.${collection}": set "token", or in Directus, Settings, Access Policies, Public, allow "read" of it`
      default:
        return undefined
    }
  }
}

/**
 * Tells whether a collection has a field. Directus gives the same error for a field that is not there and for one that
 * the token may not read: `hidden` says that the token may read certain other fields only, and `unknown` that it may not
 * read its rights either.
 */
export const makeAskField = (ask: Cms.Ask) =>
  Effect.map(
    Effect.cached(
      Effect.catchIf(
        ask("me", [], "permissions"),
        ({ isTransient }) => isTransient !== true,
        () => Effect.succeed(undefined)
      )
    ),
    (rights) =>
      Effect.fnUntraced(function* (name: string, field: string) {
        const found = yield* Effect.either(ask(name, textsOf({ fields: field, limit: 1 })))
        if (Either.isRight(found)) return "there"
        if (found.left.status !== 403) return yield* found.left
        const read = property(property(property(yield* rights, "data"), name), "read")
        const fields = property(read, "fields")
        if (!Array.isArray(fields)) return "unknown"
        return fields.includes("*") || fields.includes(field) ? "missing" : "hidden"
      })
  )

export type AskField = Effect.Effect.Success<ReturnType<typeof makeAskField>>

/** Whether items have a status. Fails if the configuration names statuses, and the token may not read them. */
export const hasStatus = Effect.fnUntraced(function* (askField: AskField, name: string, isNamed: boolean) {
  const found = yield* askField(name, "status")
  const rights =
    'in Directus, Settings, Access Policies, allow "read" of "status", or of all fields if there is none'
  if (found === "hidden" && isNamed) {
    return yield* new SourceError({
      detail: `The token may not read the field "status" of ${name}, which "status" asks for: ${rights}`
    })
  }
  if (found === "hidden" || found === "unknown") {
    yield* notice([
      {
        code: "rights:field",
        subject: "status",
        text: `if ${name} has a field "status", the token may not read it, and unpublished items are saved: ${rights}. With status: [] in the configuration, every item may be shown, unless a "filter" leaves it out`
      }
    ])
  }
  return found === "there"
})

/** Whether items have translations. */
export const hasTranslations = Effect.fnUntraced(function* (askField: AskField, name: string) {
  const found = yield* askField(name, translationsField)
  if (found === "hidden") {
    yield* notice([
      {
        code: "rights:field",
        subject: translationsField,
        text: `if ${name} has "${translationsField}", the token may not read them: in Directus, Settings, Access Policies, allow "read" of them, or of all fields if there are none`
      }
    ])
  }
  return found === "there"
})

/** The items of a collection, each once, or the item of a singleton. */
export const readCollection = Effect.fnUntraced(function* (
  ask: Cms.Ask,
  name: string,
  collection: Collection,
  { hasLanguages, status }: { readonly hasLanguages: boolean; readonly status: ReadonlyArray<string> }
) {
  const query = queryOf(collection, hasLanguages, status)
  const { items, single } = yield* Cms.readCollection<Item>(directus, {
    name,
    ask: makeAskPage(ask, name, query, collection.key),
    idOf: (item) => Option.some(String(item[collection.key]))
  })
  return Option.getOrElse(single, () => items)
})

/** Items are sorted by their key last, because equal values have no order. */
const queryOf = (
  { deep, fields, filter, key, sort }: Collection,
  hasLanguages: boolean,
  status: ReadonlyArray<string>
): Item => ({
  fields: [...fields, key, ...(hasLanguages ? translationFields(fields) : [])],
  filter: {
    _and: [...(status.length === 0 ? [] : [{ status: { _in: status } }]), ...(filter ? [filter] : [])]
  },
  sort: [...sort, key],
  deep,
  meta: "filter_count"
})

/** Adds all translations, or at least their languages, to the fields of the options. */
const translationFields = (fields: ReadonlyArray<string>) =>
  fields.some((field) => field.startsWith(`${translationsField}.`))
    ? [`${translationsField}.languages_code`]
    : [`${translationsField}.*`]

/**
 * Each page except the first begins with the last item of the page before. If it does not, items before it were added
 * or removed, and some items would be missing. No `limit` is sent, because a server may have a lower maximum than its
 * default.
 */
const makeAskPage = (ask: Cms.Ask, name: string, query: Item, key: string) =>
  Effect.fnUntraced(function* ({ read }: ListProgress, last: Item | undefined) {
    const answer = readAnswer(yield* ask(name, textsOf({ ...query, offset: Math.max(read - 1, 0) })))
    if (answer.kind !== "page") return answer
    if (!answer.items.every((item) => isKey(item[key]))) {
      return yield* new SourceError({
        detail: `An item of ${name} has no "${key}". Set "collections.${name}.key" to its primary key`
      })
    }
    if (last === undefined) return answer
    const [first, ...items] = answer.items
    return first?.[key] === last[key]
      ? { ...answer, items, records: answer.items.length }
      : yield* new ListChanged({ list: name, detail: "items came or went between its pages" })
  })

const isKey = (value: unknown): boolean => Predicate.isString(value) || Predicate.isNumber(value)
