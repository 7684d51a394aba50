/**
 * Reading a collection to its end, page after page.
 *
 * What a refusal means belongs to `requestErrors.ts`, how a request is made to `Ask`.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { Collection, DirectusOptions } from "./DirectusOptions.ts"
import { translationsField } from "./languages.ts"
import type { Ask, Parameters } from "./makeAsk.ts"
import { changing, type DirectusError, strange, tooMany, withoutKey } from "./requestErrors.ts"
import { type Item, readAnswer } from "./responses.ts"

/** More of one collection would not fit into memory. */
const maxItems = 100_000

/** How often a collection is read that changes meanwhile. */
const maxReadings = 4

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
  for (let reading = 1; reading <= maxReadings; reading++) {
    const read = yield* readPages(ask, name, query, collection.key)
    if (Option.isSome(read)) {
      return read.value
    }
  }
  return yield* changing(name)
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
 * missing: `None`. No page says how long it is, because a server may allow less than it gives by itself.
 */
const readPages = Effect.fnUntraced(function* (
  ask: Ask,
  name: string,
  query: Parameters,
  key: string
): Effect.fn.Return<Option.Option<Item | ReadonlyArray<Item>>, DirectusError> {
  const items = new Map<unknown, Item>()
  let last: unknown
  let read = 0
  for (;;) {
    const offset = Math.max(read - 1, 0)
    const answer = readAnswer(yield* ask(`items/${name}`, { ...query, offset }))
    if (answer.kind === "strange") {
      return yield* strange(name, answer.detail)
    }
    if (answer.kind === "single") {
      return Option.some(answer.item)
    }
    if (!answer.items.every((item) => isKey(item[key]))) {
      return yield* withoutKey(name, key)
    }
    if (read > 0 && answer.items[0]?.[key] !== last) {
      return Option.none()
    }
    for (const item of answer.items) {
      items.set(item[key], item)
    }
    const before = read
    read = offset + answer.items.length
    last = answer.items.at(-1)?.[key]
    if (read >= answer.total) {
      return Option.some([...items.values()])
    }
    if (read === before) {
      return Option.none()
    }
    if (read > maxItems) {
      return yield* tooMany(name, maxItems)
    }
  }
})

const isKey = (value: unknown): boolean => Predicate.isString(value) || Predicate.isNumber(value)
