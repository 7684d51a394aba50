/**
 * Reading a type to its end: page after page, in each language.
 *
 * What a refusal means belongs to `requestErrors.ts`, how a request is made to `Ask`.
 */
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import { readAgain, readList } from "../../documents/wholeList.ts"
import { fillFrom, type Translation } from "./fallback.ts"
import type { Ask } from "./makeAsk.ts"
import { StrapiError, strange, tooMany } from "./requestErrors.ts"
import { type Edition, onlyField, page } from "./requests.ts"
import { readAnswer } from "./responses.ts"
import type { StrapiOptions, StrapiType } from "./StrapiOptions.ts"

/** More of one type would not fit into memory. */
const maxEntries = 100_000

type Languages = Pick<StrapiOptions, "fallback" | "locales">

/** Those to save, and the one to take what is missing from. */
export const languagesOf = ({ fallback, locales }: Languages): ReadonlyArray<string> =>
  fallback === undefined || locales.includes(fallback) ? locales : [...locales, fallback]

/** Whether a type has languages: one that has none has no such field, and would be the same in each. */
export const isLocalized = (ask: Ask, name: string, status: Edition["status"]) =>
  ask(name, onlyField("locale", { status })).pipe(
    Effect.as(true),
    Effect.catchIf(
      ({ key, status }) => status === 404 || (status === 400 && key === "locale"),
      ({ status }) => Effect.succeed(status === 404)
    )
  )

/** A type without languages: its entries, or the one of a single type. */
export const readPlain = Effect.fnUntraced(function* (
  ask: Ask,
  name: string,
  type: StrapiType,
  { status }: Pick<StrapiOptions, "status">
) {
  const { entries, isSingle } = yield* readEdition(ask, name, type, { status })
  const [entry] = entries
  return isSingle && entry !== undefined ? entry : entries
})

/** The entries of a type in all languages, one language after the other. */
export const readTranslations = Effect.fnUntraced(function* (
  ask: Ask,
  name: string,
  type: StrapiType,
  { status, ...languages }: Languages & Pick<StrapiOptions, "status">
) {
  const translations: Array<Translation> = []
  const missing: Array<StrapiError> = []
  for (const locale of languagesOf(languages)) {
    const read = yield* Effect.either(readEdition(ask, name, type, { status, locale }))
    if (Either.isRight(read)) {
      translations.push({ locale, entries: read.right.entries })
    } else if (read.left instanceof StrapiError && read.left.status === 404) {
      translations.push({ locale, entries: [] })
      missing.push(read.left)
    } else {
      return yield* read.left
    }
  }
  // A single type may be missing in a language. What is missing in all is a mistake.
  const [first] = missing
  if (first !== undefined && missing.length === translations.length) {
    return yield* first
  }
  const { fallback, locales } = languages
  const other = translations.find(({ locale }) => locale === fallback)
  return translations
    .filter(({ locale }) => locales.includes(locale))
    .flatMap((translation) => (other === undefined ? translation.entries : fillFrom(translation, other)))
})

/** All entries, each once, or the one of a single type. Filters by relations may count and give an entry twice. */
const readEdition = Effect.fnUntraced(function* (ask: Ask, name: string, type: StrapiType, edition: Edition) {
  const isSingle = yield* Ref.make(false)

  const askPage = Effect.fnUntraced(function* ({
    number,
    read
  }: {
    readonly number: number
    readonly read: number
  }) {
    const answer = readAnswer(yield* ask(name, page(type, edition, number)))
    if (answer.kind === "strange") {
      return yield* strange(name, answer.detail)
    }
    if (answer.kind === "single") {
      yield* Ref.set(isSingle, true)
      return { items: [answer.entry], next: Option.none() }
    }
    const { entries, pageCount, total } = answer
    const next = { number: number + 1, read: read + entries.length }
    if (next.read > maxEntries) {
      return yield* tooMany(name, maxEntries)
    }
    const isLast = number >= pageCount || entries.length === 0
    return { items: entries, total, next: isLast ? Option.none() : Option.some(next) }
  })

  const pages = readList({
    name,
    first: { number: 1, read: 0 },
    ask: askPage,
    placeOf: ({ number }) => String(number),
    idOf: ({ documentId }) => Option.some(documentId),
    mistake: (detail) => strange(name, detail),
    firstAgain: "it has the entries of page 1 again",
    mayRepeatItems: type.filters !== undefined
  })
  const entries = yield* readAgain(Stream.runCollect(Stream.flattenIterables(pages)))
  return { entries: Chunk.toReadonlyArray(entries), isSingle: yield* Ref.get(isSingle) }
})
