/**
 * Reading a collection to its end, page after page.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Cms from "../../documents/Cms.ts"
import { ListChanged } from "../../documents/wholeList.ts"
import { type Ask, directus, type Item, type Parameters, readAnswer } from "./api.ts"
import type { Collection, DirectusOptions } from "./DirectusOptions.ts"
import { translationsField } from "./languages.ts"

/** Whether a collection has a field that the token may read: Directus refuses both alike. */
export const hasField = (ask: Ask, name: string, field: string) =>
  ask(name, { fields: field, limit: 1 }).pipe(
    Effect.as(true),
    Effect.catchIf(
      ({ status }) => status === 403,
      () => Effect.succeed(false)
    )
  )

/** Its items, each once, or the one item of a singleton. */
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

/** The key is the last of what it is sorted by: equal values have no order. */
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

/** What may be missing, without which a row could not be told from the others. */
const translationFields = (fields: ReadonlyArray<string>) =>
  fields.some((field) => field.startsWith(`${translationsField}.`))
    ? [`${translationsField}.languages_code`]
    : [`${translationsField}.*`]

/**
 * Each page but the first begins with the last item of the one before. Where it does not, items came or went before it, and some would be
 * missing. No page says how long it is, because a server may allow less than it gives by itself.
 */
const makeAskPage = (ask: Ask, name: string, query: Parameters, key: string) =>
  Effect.fnUntraced(function* ({ last, read }: Cms.Place<Item>) {
    const { hide, json } = yield* ask(name, { ...query, offset: Math.max(read - 1, 0) })
    const answer = readAnswer(json)
    if (answer.kind !== "page") return { ...answer, hide }
    if (!answer.items.every((item) => isKey(item[key]))) {
      return yield* new Cms.CmsError({
        detail: `An item of ${name} has no "${key}". Set "collections.${name}.key" to its primary key`,
        isTransient: false
      })
    }
    if (last === undefined) return { ...answer, hide }
    const [first, ...items] = answer.items
    return first?.[key] === last[key]
      ? { ...answer, items, records: answer.items.length, hide }
      : yield* new ListChanged({ list: name, detail: "items came or went between its pages" })
  })

const isKey = (value: unknown): boolean => Predicate.isString(value) || Predicate.isNumber(value)
