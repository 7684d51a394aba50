/** Selects a language in multilingual content. */

/**
 * The result of `language`: `title_de` becomes `title`, and `{ de, en }` becomes the text in one language. Unchanged if the type
 * of the languages is `string`, and not for example `"de" | "en"`.
 *
 * @since 0.1.0
 * @category models
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

/** `title` for `title_de`; `never` if the row always has a `title`, which then has the values of both. */
type NameOf<Value, Field extends keyof Value, Code extends string> = Field extends `${infer Name}_${Code}`
  ? Name extends RequiredOf<Value>
    ? never
    : Name
  : Field

type RequiredOf<Value> = {
  [Field in keyof Value]-?: Value extends Record<Field, unknown> ? Field : never
}[keyof Value]

/** The type of `title_de` without `undefined`, for `title`. */
type Filled<Value, Field extends keyof Value, Code extends string> = Field extends string
  ? Exclude<Value[`${Field}_${Code}` & keyof Value], undefined>
  : never

/** The languages to look for: for `"de-AT"`, also `"de_AT"`, `"de_at"` and `"de"`. */
type Found<Code extends string> =
  | Code
  | Uppercase<Code>
  | (Code extends `${infer Language}-${infer Region}`
      ? Language | `${Language}_${Region}` | Lowercase<`${Language}_${Region}`>
      : never)

type Codes = ReadonlyArray<string>
type Fields = Readonly<Record<string, unknown>>

/** The objects that contain a value, to stop at cycles. */
type Above = ReadonlyArray<unknown>

const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Whether a name is a language, such as "de", "DE", "de-AT", "de_AT", "de_at" or "zh_Hans"; `id` is not. */
const isLanguage = (name: string): boolean => /^(?!id$)[a-z]{2,3}(-.+|(_[a-z]{4})?(_[a-z]{2})?)$/i.test(name)

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === "" || (Array.isArray(value) && value.length === 0)

/** The rank of text in none of the languages. */
const other = 1e9

/** Equal for languages that people read as one: "de_AT" and "de-at", and both codes of Hebrew. */
const hyphened = (code: unknown) => `${code}-`.replace(/_/g, "-").toLowerCase().replace(/^iw-/, "he-")

/**
 * The rank of a language, the lowest first. "de" matches "de", then "de-DE"; "de-AT" matches "de-AT", then "de_AT", then
 * "de".
 */
const rankOf = (language: unknown, codes: Codes): number => {
  const name = hyphened(language)
  const index = codes.findIndex((code) => name.startsWith(hyphened(code)) || hyphened(code).startsWith(name))
  const code = codes[index]
  return index < 0 ? other : index + (code === language ? 0 : hyphened(code) === name ? 0.25 : 0.5)
}

type Choice<Value = unknown> = readonly [rank: number, value: Value]

const byRank = ([one]: Choice, [two]: Choice) => one - two

/** The value with the lowest rank that is not empty, or else the value with the lowest rank. */
const choose = (choices: ReadonlyArray<Choice>): unknown => {
  const [first] = choices
  const [best = first] = choices.filter(([, value]) => !isEmpty(value)).sort(byRank)
  return best?.[1]
}

const isWanted = ([rank]: Choice) => rank < other

/** The language behind a name, with and without a script or a region: "title_zh_Hans". */
const endings = [/^(.+?)_([a-z]{2,3}(?:_[a-z]{4})?_(?:[a-z]{2}|[a-z]{4}))$/i, /^(.+)_([^_]+)$/]

const recordIn = (record: Fields, codes: Codes, above: Above): Fields => {
  const fields = new Map<string, ReadonlyArray<Choice>>()
  const offer = (name: string, ...choice: Choice) => fields.set(name, [...(fields.get(name) ?? []), choice])
  const own = new Map(Object.entries(record))
  for (const [field, value] of own) {
    const [name, rank] = endings
      .map((ending) => ending.exec(field) ?? [])
      .map(([, name = field, language]) => [name, rankOf(language, codes)] as const)
      .find(([, rank]) => rank < other) ?? [field, other]
    offer(name, rank, value)
  }
  for (const [name, choices] of fields) {
    const free = codes.findIndex((_, index) => !choices.some(([rank]) => Math.floor(rank) === index))
    if (free >= 0 && choices.some(isWanted) && own.has(name)) {
      offer(name, free, own.get(name))
    }
  }
  return Object.fromEntries(
    [...fields].map(([name, choices]) => [name, inLanguage(choose(choices), codes, above)])
  )
}

/** The languages and texts of a value such as `{ de, en }`; empty if it is a record. */
const textsOf = (value: unknown): ReadonlyArray<readonly [language: string, text: unknown]> => {
  const { _type, ...texts } = isRecord(value) ? value : {}
  return Object.keys(texts).every(isLanguage) ? Object.entries(texts) : []
}

/** Whether a value has languages, even if none is wanted: `{ fr }` has; `{ alt }`, `{ no: 1 }` and `{ cm, in }` have not. */
const isSure = (texts: ReturnType<typeof textsOf>): boolean =>
  texts.length === 1 &&
  texts.every(
    ([language, text]) => /^[a-z]{2}(-|$)/.test(language) && (typeof text === "string" || Array.isArray(text))
  )

const inLanguage = (value: unknown, codes: Codes, above: Above): unknown => {
  if (above.includes(value)) {
    return value
  }
  const inside = [...above, value]
  const texts = textsOf(value)
  const choices = texts.map(([language, text]): Choice => [rankOf(language, codes), text])
  const wanted = choices.filter(isWanted)
  const known = wanted.length > 0 || !isSure(texts) ? wanted : choices
  if (known.length > 0) {
    return inLanguage(choose(known), codes, inside)
  }
  return Array.isArray(value)
    ? value.map((item) => inLanguage(item, codes, inside))
    : isRecord(value)
      ? recordIn(value, codes, inside)
      : value
}

/**
 * A copy of a row, or of an array of rows, in the first language that has text: `language(row, "de", "en")`.
 *
 * `title_de` becomes `title`. If it is empty, `title_en` is used, or else the row's own `title`. A row's own `title` beside
 * `title_de` counts as the first language without a field: here English, if there is no `title_en`. The same applies to
 * `{ de, en }`, at any depth. `"de"` also matches `"de-DE"`, and `"de-AT"` matches `"de"`. `{ fr }` alone becomes its first text.
 *
 * @since 0.1.0
 * @category utils
 */
export function language<Value, Code extends string>(
  value: Value,
  ...codes: ReadonlyArray<Code>
): InLanguage<Value, Found<Code>>
/**
 * @since 0.1.0
 * @category utils
 */
export function language(value: unknown, ...codes: Codes): unknown {
  return inLanguage(value, codes, [])
}
