/**
 * Reads all entries of a type in each language, and takes missing entries from the fallback language.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import { SourceError } from "../../../services/SourceError.ts"
import { readCollection } from "../../documents/Cms.ts"
import { RequestFailed } from "../../httpClient/Requests.ts"
import {
  type Ask,
  type Edition,
  type Entry,
  onlyField,
  page,
  readAnswer,
  readRefusal,
  strapi
} from "./api.ts"
import type { StrapiOptions, StrapiType } from "./StrapiOptions.ts"

/** All entries of a type in one language, in the order of the server. */
interface Translation {
  readonly locale: string
  readonly entries: ReadonlyArray<Entry>
}

type Languages = Pick<StrapiOptions, "fallback" | "locales">

/** The languages to save, and the fallback language. */
const languagesOf = ({ fallback, locales }: Languages): ReadonlyArray<string> =>
  fallback === undefined || locales.includes(fallback) ? locales : [...locales, fallback]

/** Whether a type has languages. A type without languages has no field `locale`, which Strapi refuses to give. */
export const isLocalized = (ask: Ask, name: string, status: Edition["status"]) =>
  ask(name, onlyField("locale", { status })).pipe(
    Effect.as(true),
    Effect.catchIf(
      ({ cause, status }) => status === 404 || (status === 400 && isAbout("locale", cause)),
      ({ status }) => Effect.succeed(status === 404)
    )
  )

const isAbout = (key: string, cause: unknown): boolean =>
  cause instanceof RequestFailed && readRefusal(cause.said).key === key

/** Reads a type without languages: its entries, or the entry of a single type. */
export const readPlain = Effect.fnUntraced(function* (
  ask: Ask,
  name: string,
  type: StrapiType,
  { status }: Pick<StrapiOptions, "status">
) {
  const { items, single } = yield* readEdition(ask, name, type, { status })
  return Option.getOrElse(single, () => items)
})

/** Reads the entries of a type in all languages, one language after the other. */
export const readTranslations = Effect.fnUntraced(function* (
  ask: Ask,
  name: string,
  type: StrapiType,
  { status, ...languages }: Languages & Pick<StrapiOptions, "status">
) {
  const translations: Array<Translation> = []
  const missing: Array<SourceError> = []
  for (const locale of languagesOf(languages)) {
    const read = yield* Effect.either(readEdition(ask, name, type, { status, locale }))
    if (Either.isRight(read)) {
      translations.push({ locale, entries: read.right.items })
    } else if (read.left instanceof SourceError && read.left.status === 404) {
      translations.push({ locale, entries: [] })
      missing.push(read.left)
    } else {
      return yield* read.left
    }
  }
  // A single type may be missing in some languages. If it is missing in all, its name is wrong, or nothing is published.
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

/** Reads all entries, each once, or the entry of a single type. With filters by relations, Strapi may count and give an entry twice. */
const readEdition = (ask: Ask, name: string, type: StrapiType, edition: Edition) =>
  readCollection<Entry>(strapi, {
    name,
    ask: ({ number }) => Effect.map(ask(name, page(type, edition, number)), readAnswer),
    idOf: ({ documentId }) => Option.some(documentId),
    mayRepeatItems: type.filters !== undefined
  })

/**
 * Adds the entries that are only in the fallback language, with the `locale` of this language, and with their own as `fallbackLocale`. Each
 * added entry comes after the entry that it follows in the fallback language.
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
