/**
 * Reading a collection to its end, page after page.
 *
 * What a refusal means belongs to `requestErrors.ts`, how a request is made to `Ask`.
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import { ListChanged, readAgain, readList } from "../../documents/wholeList.ts"
import type { Collection, DirectusOptions } from "./DirectusOptions.ts"
import { translationsField } from "./languages.ts"
import type { Ask, Parameters } from "./makeAsk.ts"
import { type DirectusError, strange, tooMany, withoutKey } from "./requestErrors.ts"
import { type Item, readAnswer } from "./responses.ts"

/** More of one collection would not fit into memory. */
const maxItems = 100_000

/** Whether a collection has a field that the token may read: Directus refuses both alike. */
export const hasField = (ask: Ask, name: string, field: string) =>
  ask(`items/${name}`, { fields: field, limit: 1 }).pipe(
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
  const isSingle = yield* Ref.make(false)
  const pages = readPages(ask, name, query, collection.key, Ref.set(isSingle, true))
  const items = Chunk.toReadonlyArray(yield* readAgain(Stream.runCollect(Stream.flattenIterables(pages))))
  const [item] = items
  return (yield* Ref.get(isSingle)) && item !== undefined ? item : items
})

/** The key is the last of what it is sorted by: equal values have no order of their own. */
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
const readPages = (ask: Ask, name: string, query: Parameters, key: string, isSingle: Effect.Effect<void>) => {
  const keyOf = (item: Item) => item[key]

  const askPage = Effect.fnUntraced(function* ({
    last,
    read
  }: {
    readonly last: unknown
    readonly read: number
  }) {
    const offset = Math.max(read - 1, 0)
    const answer = readAnswer(yield* ask(`items/${name}`, { ...query, offset }))
    if (answer.kind === "strange") {
      return yield* strange(name, answer.detail)
    }
    if (answer.kind === "single") {
      yield* isSingle
      return { items: [answer.item], next: Option.none() }
    }
    if (!answer.items.every((item) => isKey(keyOf(item)))) {
      return yield* withoutKey(name, key)
    }
    const [first] = answer.items
    if (read > 0 && first?.[key] !== last) {
      return yield* new ListChanged({
        list: name,
        detail: "items came or went between its pages"
      })
    }
    const items = answer.items.slice(read === 0 ? 0 : 1)
    const next = { last: answer.items.at(-1)?.[key], read: read + items.length }
    if (next.read > maxItems) {
      return yield* tooMany(name, maxItems)
    }
    const isLast = next.read >= answer.total || items.length === 0
    return { items, total: answer.total, next: isLast ? Option.none() : Option.some(next) }
  })

  return readList<{ readonly last: unknown; readonly read: number }, Item, DirectusError | ListChanged>({
    name,
    first: { last: undefined, read: 0 },
    ask: askPage,
    placeOf: ({ read }) => String(read),
    idOf: (item) => Option.some(String(keyOf(item))),
    mistake: (detail) => strange(name, detail),
    firstAgain: "it has the items of page 1 again"
  })
}

const isKey = (value: unknown): boolean => Predicate.isString(value) || Predicate.isNumber(value)
