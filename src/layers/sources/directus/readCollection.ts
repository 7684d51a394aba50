/**
 * Reads all items of a collection, page after page.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import { SourceError } from "../../../services/SourceError.ts"
import * as Cms from "../../documents/Cms.ts"
import { ListChanged } from "../../documents/wholeList.ts"
import { type Ask, directus, type Item, type Parameters, readAnswer } from "./api.ts"
import type { Collection, DirectusOptions } from "./DirectusOptions.ts"
import { translationsField } from "./languages.ts"

/** Whether a collection has a field, and the token may read it. Directus gives the same error for both. */
export const hasField = (ask: Ask, name: string, field: string) =>
  ask(name, { fields: field, limit: 1 }).pipe(
    Effect.as(true),
    Effect.catchIf(
      ({ status }) => status === 403,
      () => Effect.succeed(false)
    )
  )

/** The items of a collection, each once, or the item of a singleton. */
export const readCollection = Effect.fnUntraced(function* (
  ask: Ask,
  name: string,
  collection: Collection,
  { hasLanguages, status }: Pick<DirectusOptions, "status"> & { readonly hasLanguages: boolean }
) {
  const hasStatus = status.length > 0 && (yield* hasField(ask, name, "status"))
  const query = queryOf(collection, hasLanguages, hasStatus ? status : [])
  const { items, single } = yield* Cms.readCollection<Item>(directus, {
    name,
    ask: makeAskPage(ask, name, query, collection.key),
    idOf: (item) => Option.some(String(item[collection.key]))
  })
  return Option.getOrElse(single, () => items)
})

/** Items are sorted by their key last: equal values have no order. */
const queryOf = (
  { deep, fields, filter, key, sort }: Collection,
  hasLanguages: boolean,
  status: DirectusOptions["status"]
): Parameters => ({
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
 * Each page except the first begins with the last item of the page before. If it does not, items before it were added or removed, and some
 * would be missing. No `limit` is sent: a server may have a lower maximum than its default.
 */
const makeAskPage = (ask: Ask, name: string, query: Parameters, key: string) =>
  Effect.fnUntraced(function* ({ last, read }: Cms.Place<Item>) {
    const answer = readAnswer(yield* ask(name, { ...query, offset: Math.max(read - 1, 0) }))
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
