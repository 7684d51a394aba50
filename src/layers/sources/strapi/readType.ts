/**
 * Reading a type to its end: page after page, in each language.
 *
 * What a refusal means belongs to `requestErrors.ts`, how a request is made to `Ask`.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { type Entry, fillFrom, type Translation } from "./fallback.ts"
import type { Ask } from "./makeAsk.ts"
import { changing, type StrapiError, strange, tooMany } from "./requestErrors.ts"
import { type Edition, onlyField, page } from "./requests.ts"
import { readAnswer } from "./responses.ts"
import type { StrapiOptions, StrapiType } from "./StrapiOptions.ts"

/** More of one type would not fit into memory. */
const maxEntries = 100_000

/** How often a type is read that changes meanwhile. */
const maxReadings = 4

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
    } else if (read.left.status === 404) {
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

/** All entries, each once. It is read again where entries came or went between its pages, and may be missing. */
const readEdition = Effect.fnUntraced(function* (ask: Ask, name: string, type: StrapiType, edition: Edition) {
  let before = ""
  for (let reading = 1; reading <= maxReadings; reading++) {
    const { entries, isSingle, totals } = yield* readPages(ask, name, type, edition)
    const counts = `${entries.length} of ${[...totals].join(" or ")}`
    // Filters by relations may count an entry twice: twice the same is all there is.
    if (totals.size === 1 && (totals.has(entries.length) || counts === before)) {
      return { entries, isSingle }
    }
    before = counts
  }
  return yield* changing(name, before)
})

const readPages = Effect.fnUntraced(function* (ask: Ask, name: string, type: StrapiType, edition: Edition) {
  const entries = new Map<string, Entry>()
  const totals = new Set<number>()
  for (let number = 1; ; number++) {
    const answer = readAnswer(yield* ask(name, page(type, edition, number)))
    if (answer.kind === "strange") {
      return yield* strange(name, answer.detail)
    }
    if (answer.kind === "single") {
      return { entries: [answer.entry], totals: new Set([1]), isSingle: true }
    }
    const before = entries.size
    for (const entry of answer.entries) {
      entries.set(entry.documentId, entry)
    }
    totals.add(answer.total)
    if (entries.size > maxEntries) {
      return yield* tooMany(name, maxEntries)
    }
    if (number >= answer.pageCount || entries.size === before) {
      return { entries: [...entries.values()], totals, isSingle: false }
    }
  }
})
