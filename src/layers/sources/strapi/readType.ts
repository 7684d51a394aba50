/**
 * Reading a type to its end, in each language: entries that one does not have are filled from another.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { CmsError, readCollection } from "../../documents/Cms.ts"
import { type Ask, type Edition, onlyField, page, strapi } from "./api.ts"
import { type Entry, readAnswer } from "./responses.ts"
import type { StrapiOptions, StrapiType } from "./StrapiOptions.ts"

/** All entries of a type in one language, in the order of the server. */
interface Translation {
  readonly locale: string
  readonly entries: ReadonlyArray<Entry>
}

type Languages = Pick<StrapiOptions, "fallback" | "locales">

/** Those to save, and the one to take what is missing from. */
const languagesOf = ({ fallback, locales }: Languages): ReadonlyArray<string> =>
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
  const { items, single } = yield* readEdition(ask, name, type, { status })
  return Option.getOrElse(single, () => items)
})

/** The entries of a type in all languages, one language after the other. */
export const readTranslations = Effect.fnUntraced(function* (
  ask: Ask,
  name: string,
  type: StrapiType,
  { status, ...languages }: Languages & Pick<StrapiOptions, "status">
) {
  const translations: Array<Translation> = []
  const missing: Array<CmsError> = []
  for (const locale of languagesOf(languages)) {
    const read = yield* Effect.either(readEdition(ask, name, type, { status, locale }))
    if (Either.isRight(read)) {
      translations.push({ locale, entries: read.right.items })
    } else if (read.left instanceof CmsError && read.left.status === 404) {
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
const readEdition = (ask: Ask, name: string, type: StrapiType, edition: Edition) =>
  readCollection<Entry>(strapi, {
    name,
    ask: ({ number }) =>
      Effect.map(ask(name, page(type, edition, number)), ({ hide, json }) => ({ ...readAnswer(json), hide })),
    idOf: ({ documentId }) => Option.some(documentId),
    mayRepeatItems: type.filters !== undefined
  })

/**
 * The entries of a language with those that are only in the other one, which have the `locale` that they stand for, and say in
 * `fallbackLocale` what they are written in. Each stands behind the one that it follows in its own language.
 */
const fillFrom = ({ locale, entries }: Translation, fallback: Translation): ReadonlyArray<Entry> => {
  const own = new Set(entries.map(({ documentId }) => documentId))
  const first: Array<Entry> = []
  const followers = new Map<string, Array<Entry>>()
  let behind = first
  for (const entry of fallback.entries) {
    if (own.has(entry.documentId)) {
      behind = []
      followers.set(entry.documentId, behind)
    } else {
      behind.push({ ...entry, locale, fallbackLocale: fallback.locale })
    }
  }
  return [...first, ...entries.flatMap((entry) => [entry, ...(followers.get(entry.documentId) ?? [])])]
}
