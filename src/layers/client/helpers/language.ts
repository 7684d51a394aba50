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

/** What is looked for: `"de"`, too, for `"de-AT"`. */
type Found<Code extends string> = Code | (Code extends `${infer Language}-${string}` ? Language : never)

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

/** The rank of text in none of the languages; ranks from here on are not wanted. */
const other = 1e9

/** How early a language is wanted: "de" is found in "de", and then in "de-DE"; "de-AT" in "de-AT", and then in "de". */
const rankOf = (language: unknown, codes: Codes): number => {
  const index = codes.findIndex(
    (code) => `${language}-`.startsWith(`${code}-`) || `${code}-`.startsWith(`${language}-`)
  )
  return index < 0 ? other : index + (codes[index] === language ? 0 : 0.5)
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

const recordIn = (record: Fields, codes: Codes, above: Above): Fields => {
  const fields = new Map<string, ReadonlyArray<Choice>>()
  const offer = (name: string, ...choice: Choice) => fields.set(name, [...(fields.get(name) ?? []), choice])
  const own = new Map(Object.entries(record))
  for (const [field, value] of own) {
    const [, name = field, language] = /^(.+)_([^_]+)$/.exec(field) ?? []
    const rank = rankOf(language, codes)
    offer(rank < other ? name : field, rank, value)
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

/** Each language and what the value has in it, where it is of languages and not a record: `{ de, en }`. */
const textsOf = (value: unknown): ReadonlyArray<readonly [language: string, text: unknown]> => {
  const { _type, ...texts } = isRecord(value) ? value : {}
  return Object.keys(texts).every(isLanguage) ? Object.entries(texts) : []
}

/** Whether it is in languages although none is wanted: `{ fr }` is; `{ alt }`, `{ no: 1 }` and `{ cm, in }` are not. */
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
 * A copy of a row, or of an array of rows, in the first of the languages in which there is something: `language(row, "de", "en")`.
 *
 * `title_de` becomes `title`; where it is empty, that is `title_en`, and else the `title` of the row itself. A row's own `title` beside
 * `title_de` is in the first of the languages for which it has no field: in English here, without `title_en`. The same is done, at
 * any depth, with `{ de, en }`. `"de"` is `"de-DE"`, too, and `"de-AT"` is `"de"`. Of `{ fr }` alone, it is the first that there is.
 */
export function language<Value, Code extends string>(
  value: Value,
  ...codes: ReadonlyArray<Code>
): InLanguage<Value, Found<Code>>
export function language(value: unknown, ...codes: Codes): unknown {
  return inLanguage(value, codes, [])
}
