/**
 * Reads all entries of a type in each language, and merges the languages of each entry.
 */
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
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
  stablePart,
  strapi
} from "./api.ts"
import type { StrapiOptions, StrapiType } from "./StrapiOptions.ts"

/** All entries of a type in one language, in the order of the server. */
interface Translation {
  readonly locale: string
  readonly entries: ReadonlyArray<Entry>
}

/** Whether a type has languages. Strapi refuses the field `locale` for a type without languages. */
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
  { locales, status }: Pick<StrapiOptions, "locales" | "status">
) {
  let isSingle = false
  const translations: globalThis.Array<Translation> = []
  const missing: globalThis.Array<SourceError> = []
  for (const locale of locales) {
    const read = yield* Effect.either(readEdition(ask, name, type, { status, locale }))
    if (Either.isRight(read)) {
      isSingle ||= Option.isSome(read.right.single)
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
  const entries = merged(translations)
  return isSingle ? entries[0] : entries
})

/**
 * Reads all entries, each once, or the entry of a single type. With filters by relations, Strapi may count and send
 * an entry twice.
 */
const readEdition = (ask: Ask, name: string, type: StrapiType, edition: Edition) =>
  readCollection<Entry>(strapi, {
    name,
    ask: ({ number }) => Effect.map(ask(name, page(type, edition, number)), readAnswer),
    idOf: ({ documentId }) => Option.some(documentId),
    mayRepeatItems: type.filters !== undefined
  })

/** Fields that each translation has for itself: the merged entry has the values of its first language. */
const ofFirst: ReadonlySet<string> = new Set(["id", "documentId", "createdAt", "updatedAt", "publishedAt"])
const leftOut: ReadonlySet<string> = new Set(["locale", "localizations"])

type Variant = readonly [locale: string, entry: Entry]

/**
 * One entry for each document, in the order of the first language. Fields that differ in any entry of the type become
 * `{ de, en }`.
 */
const merged = (translations: ReadonlyArray<Translation>): ReadonlyArray<Entry> => {
  const byId = new Map<string, ReadonlyArray<Variant>>()
  for (const { entries, locale } of translations) {
    for (const entry of entries) {
      const variants = byId.get(entry.documentId) ?? []
      byId.set(entry.documentId, [...variants, [locale, entry]])
    }
  }
  const all = [...byId.values()]
  const differing = new Set(all.flatMap(differingFields))
  return all.flatMap((variants) => mergedEntry(variants, differing))
}

const differingFields = (variants: ReadonlyArray<Variant>): ReadonlyArray<string> => {
  const texts = variants.map(([, entry]) => Record.map(entry, (value) => JSON.stringify(stablePart(value))))
  return Object.keys(Object.assign({}, ...texts)).filter(
    (name) => !ofFirst.has(name) && texts.some((text) => text[name] !== texts[0]?.[name])
  )
}

const mergedEntry = (variants: ReadonlyArray<Variant>, differing: ReadonlySet<string>) => {
  const [first] = variants
  if (first === undefined) return []
  const translated = Array.fromIterable(differing).flatMap((name) => {
    const found = variants.flatMap(([locale, { [name]: value }]) =>
      value === undefined ? [] : [[locale, value]]
    )
    return found.length === 0 ? [] : [[name, Object.fromEntries(found)]]
  })
  const entry: Entry = { ...first[1], ...Object.fromEntries(translated) }
  return [{ ...Record.filter(entry, (_, name) => !leftOut.has(name)), documentId: entry.documentId }]
}
