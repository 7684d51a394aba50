/** Content in several languages, in the one that was chosen. */

/**
 * A value as `language` gives it: `title_de` is `title`, `{ de, en }` is what it has in one of them. As it was where the languages are
 * any text, and not `"de" | "en"` for example.
 */
export type InLanguage<Value, Code extends string> = unknown extends Value
  ? Value
  : string extends Code
    ? Value
    : Value extends ReadonlyArray<infer Item>
      ? ReadonlyArray<InLanguage<Item, Code>>
      : Value extends object
        ? [keyof Value & Code] extends [never]
          ? {
              readonly [Field in keyof Value as NameOf<Value, Field, Code>]: InLanguage<
                Value[Field] | Filled<Value, Field, Code>,
                Code
              >
            }
          : InLanguage<Value[keyof Value & Code], Code>
        : Value

/** `title` of `title_de`. That of none where there is always a `title`: it has the values of both. */
type NameOf<Value, Field extends keyof Value, Code extends string> = Field extends `${infer Name}_${Code}`
  ? Name extends RequiredOf<Value>
    ? never
    : Name
  : Field

type RequiredOf<Value> = {
  [Field in keyof Value]-?: Value extends Record<Field, unknown> ? Field : never
}[keyof Value]

/** What is in `title_de`, where it is there, for `title`. */
type Filled<Value, Field extends keyof Value, Code extends string> = Field extends string
  ? Exclude<Value[`${Field}_${Code}` & keyof Value], undefined>
  : never

type Codes = ReadonlyArray<string>
type Fields = Readonly<Record<string, unknown>>

/** What a value is in, to end where it is in itself. */
type Above = ReadonlyArray<unknown>

const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** As in "de" or "de-AT"; an `id` is none. */
const isLanguage = (name: string): boolean => /^(?!id$)[a-z]{2,3}(-.+)?$/.test(name)

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0)

/** Of what is in no language at all. */
const other = 1e9

/** How early a language is wanted: "de" is found in "de", and then in "de-DE". Those of `other` and above are not wanted. */
const rankOf = (language: unknown, codes: Codes): number => {
  const index = codes.findIndex((code) => `${language}-`.startsWith(`${code}-`))
  return index < 0 ? other : index + (codes.includes(`${language}`) ? 0 : 0.5)
}

type Choice<Value = unknown> = readonly [rank: number, value: Value]

const byRank = ([one]: Choice, [two]: Choice) => one - two

/** The first by its rank that is not empty, or else the first of all. */
const choose = (choices: ReadonlyArray<Choice>): unknown => {
  const [first] = choices
  const [best = first] = choices.filter(([, value]) => !isEmpty(value)).sort(byRank)
  return best?.[1]
}

const isWanted = ([rank]: Choice) => rank < other

/** The language of a row of Directus' `translations`. */
const languageOf = ({ languages_code: language }: Fields): unknown =>
  isRecord(language) ? language.code : language

const recordIn = (record: Fields, codes: Codes, above: Above): Fields => {
  const fields = new Map<string, ReadonlyArray<Choice>>()
  const offer = (name: string, ...choice: Choice) => fields.set(name, [...(fields.get(name) ?? []), choice])
  for (const [field, value] of Object.entries(record)) {
    const [, name = field, language] = /^(.+)_([^_]+)$/.exec(field) ?? []
    const rank = rankOf(language, codes)
    offer(rank < other ? name : field, rank, value)
  }
  for (const [name, choices] of fields) {
    const free = codes.findIndex((_, index) => !choices.some(([rank]) => Math.floor(rank) === index))
    if (free >= 0 && choices.some(isWanted)) {
      offer(name, free, record[name])
    }
  }
  const { translations } = record
  for (const row of [translations].flat().filter(isRecord)) {
    const rank = rankOf(languageOf(row), codes)
    if (rank < other) {
      const { id, languages_code, ...texts } = row
      fields.delete("translations")
      for (const [field, value] of Object.entries(texts)) {
        offer(field, rank, value)
      }
    }
  }
  return Object.fromEntries(
    [...fields].map(([name, choices]) => [name, inLanguage(choose(choices), codes, above)])
  )
}

/** What a record is the translation of. */
const keyOf = ({ documentId, id }: Fields): unknown => documentId ?? id

/** Of records in several languages, each with its `locale`, those in the first language that there is. */
const withoutOthers = (items: ReadonlyArray<unknown>, codes: Codes): ReadonlyArray<unknown> => {
  const rows = items.filter(isRecord)
  if (rows.length < items.length || !rows.every(({ locale }) => isLanguage(`${locale}`))) {
    return items
  }
  const wanted = rows.map((row): Choice<Fields> => [rankOf(row.locale, codes), row]).filter(isWanted)
  const lastFirst = [...wanted].sort(byRank).reverse()
  const first = new Map(lastFirst.map(([rank, row]) => [keyOf(row), rank]))
  return wanted.filter(([rank, row]) => first.get(keyOf(row)) === rank).map(([, row]) => row)
}

/** Texts and lists in a language are `other`, where it is not wanted: `{ alt, src }` and `{ lat, lng }` are no languages. */
const choiceOf = (language: unknown, value: unknown, codes: Codes): Choice => {
  const rank = rankOf(language, codes)
  const isSure = /^[a-z]{2}(-|$)/.test(`${language}`) && (typeof value === "string" || Array.isArray(value))
  return [rank < other || isSure ? rank : Number.POSITIVE_INFINITY, value]
}

/** What the value has in each language, where it is of languages and not a record: `{ de, en }`, `[{ _key: "de", value }]`. */
const choicesOf = (value: unknown, codes: Codes): ReadonlyArray<Choice> => {
  if (Array.isArray(value)) {
    return value.every((item) => isRecord(item) && "value" in item)
      ? value.map(({ _key, language = _key, value }) => choiceOf(language, value, codes))
      : []
  }
  if (!isRecord(value)) {
    return []
  }
  const { _type, ...texts } = value
  return Object.keys(texts).every(isLanguage)
    ? Object.entries(texts).map(([name, value]) => choiceOf(name, value, codes))
    : []
}

const inLanguage = (value: unknown, codes: Codes, above: Above): unknown => {
  if (above.includes(value)) {
    return value
  }
  const inside = [...above, value]
  const choices = choicesOf(value, codes)
  const wanted = choices.filter(isWanted)
  const known = wanted.length > 0 ? wanted : choices
  if (known.length > 0 && known.every(([rank]) => rank <= other)) {
    return inLanguage(choose(known), codes, inside)
  }
  return Array.isArray(value)
    ? withoutOthers(value, codes).map((item) => inLanguage(item, codes, inside))
    : isRecord(value)
      ? recordIn(value, codes, inside)
      : value
}

/**
 * A copy of a row, or of an array of rows, in the first of the languages in which there is something: `language(row, "de", "en")`.
 *
 * `title_de` becomes `title`; where it is empty, that is `title_en`, and else the `title` of the row itself. A row's own `title` beside
 * `title_de` is in the first of the languages for which it has no field: in English here, without `title_en`. The same is done, at
 * any depth, with `{ de, en }` (Sanity, Contentful), lists of `{ _key: "de", value }` (Sanity), `translations` with a `languages_code`
 * (Directus), and records that have a `locale` (Strapi, Directus), of which the others are left out. `"de"` is `"de-DE"`, too.
 * Of `{ fr }`, where there is none of the languages, it is the first that there is.
 */
export function language<Value, Code extends string>(
  value: Value,
  ...codes: ReadonlyArray<Code>
): InLanguage<Value, Code>
export function language(value: unknown, ...codes: Codes): unknown {
  return inLanguage(value, codes, [])
}
