/**
 * What is gone from a source: documents, records, fields and files that it had before, and languages that it should have.
 *
 * A file keeps what the source had. What is gone stays in that file, because the next version is compared with it too:
 * the warning lasts until everything is back, somebody accepts it, or the options of the source are others.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import { sha256OfText } from "../../files/sha256.ts"
import { closestName } from "../../internal/closestName.ts"
import { type MistakePlace, valueKinds } from "../../internal/mistakeParts.ts"
import type { PreviousContent } from "../../services/ContentSource.ts"
import type { Warning } from "../../services/Warning.ts"
import type { DocumentOptions } from "./DocumentOptions.ts"
import type { JsonObject } from "./jsonValues.ts"
import type { Had, KeptFile, Known } from "./KeptFile.ts"
import { languageKey } from "./names.ts"
import { placed, warn, within } from "./warnings.ts"

/** The records and fields of a document. */
export interface Shape {
  readonly count: number
  /** How many records have a field, such as `size`, `size (object)` and `size.width`; for the first 1,000 fields. */
  readonly fields: ReadonlyMap<string, number>
}

interface ShapedDocument {
  readonly document: string
  readonly shape: Shape
  readonly place: MistakePlace
  /** Whether it had content in the last version. */
  readonly hadContent: boolean
}

const maxFields = 1000

/** Lists of fewer records change too much. */
const minRecords = 10

/** The most fields that get a hint, because each takes some milliseconds. */
const maxHints = 10

/** It changes in place, because records have many fields. */
interface Count {
  records: number
  lists: number
  objects: number
}

const addValue = (value: unknown, count: Count): void => {
  count.records++
  if (typeof value !== "object") return
  if (Array.isArray(value)) count.lists++
  else count.objects++
}

/** By the name of the field. */
type Counts = Map<string, Count>

/**
 * Looks at the records of a document, one after the other. The same list of names as for the record before saves
 * looking each of them up.
 */
export const makeShape = () => {
  const fields: Counts = new Map()
  const inside = new Map<string, Counts>()
  let left = maxFields
  let latest: ReadonlyArray<string> = []
  let latestCounts: Array<Count | undefined> = []
  const countOf = (name: string, counts: Counts): Count | undefined => {
    const known = counts.get(name)
    if (known !== undefined || left-- <= 0) return known
    const count = { records: 0, lists: 0, objects: 0 }
    counts.set(name, count)
    return count
  }
  const addInner = (object: JsonObject, counts: Counts): void => {
    for (const name of Object.keys(object)) {
      const count = isEmpty(object[name]) ? undefined : countOf(name, counts)
      if (count !== undefined) addValue(object[name], count)
    }
  }
  return {
    add: (record: unknown, names?: ReadonlyArray<string>): void => {
      if (!Predicate.isReadonlyRecord(record)) return
      if (names === undefined || names !== latest) {
        latest = names ?? Object.keys(record)
        latestCounts = []
      }
      for (let at = 0; at < latest.length; at++) {
        const name = latest[at] ?? ""
        const value = record[name]
        if (isEmpty(value)) continue
        const count = latestCounts[at] ?? countOf(name, fields)
        latestCounts[at] = count
        if (count === undefined) continue
        addValue(value, count)
        if (typeof value !== "object" || !Predicate.isReadonlyRecord(value)) continue
        const parts: Counts = inside.get(name) ?? new Map()
        inside.set(name, parts)
        addInner(value, parts)
      }
    },
    end: (count: number): Shape => ({
      count,
      fields: new Map([
        ...countedIn(fields, ""),
        ...[...inside].flatMap(([name, parts]) => countedIn(parts, `${name}.`))
      ])
    })
  }
}

const countedIn = (counts: Counts, prefix: string): ReadonlyArray<readonly [name: string, records: number]> =>
  [...counts].flatMap(([name, { lists, objects, records }]) =>
    [
      [`${prefix}${name}`, records] as const,
      [`${prefix}${name} (list)`, lists] as const,
      [`${prefix}${name} (object)`, objects] as const,
      [`${prefix}${name} (value)`, records - lists - objects] as const
    ].filter(([, count]) => count > 0)
  )

const kindEnd = / \((?:list|object|value)\)$/
const fieldOf = (name: string): string => name.replace(kindEnd, "")

/** The fields that a kind, or a field inside another one, belongs to. */
const inField = (name: string): ReadonlyArray<string> =>
  [fieldOf(name), name.split(".", 1)[0] ?? ""].filter((part) => part !== name)

const isEmpty = (value: unknown): boolean => Predicate.isNullable(value) || value === ""

const areGone = (before: number, now: number): boolean =>
  before > 0 && (now === 0 || (before >= minRecords && before - now > before / 3))

/** The documents and files that a fetch has found. */
export interface Found {
  readonly previous: Option.Option<PreviousContent>
  readonly documents: ReadonlyArray<ShapedDocument>
  /** The number of its files. */
  readonly files: number
}

/** A digest of the options, with the text of functions and without secrets. */
export const optionsDigest = ({ expect, id, ...options }: Pick<DocumentOptions, "id" | "expect">): string =>
  sha256OfText(
    JSON.stringify([options, expect], (_, value) => (Predicate.isFunction(value) ? String(value) : value))
  )

/** Remembers what a source has, and which warnings are accepted. */
export const make = (
  options: Pick<DocumentOptions, "id" | "expect">,
  kind: "table" | "document",
  kept: KeptFile
) => {
  const digest = optionsDigest(options)
  const isUsual = (document: string): boolean =>
    Option.exists(Record.get(options.expect, document), ({ maxVanishing }) => maxVanishing !== undefined)

  /** The warnings about what is gone, and what to remember. */
  const compare = ({ documents, files, previous }: Found, known: Known | undefined) => {
    const before: Known["had"] = Option.isSome(previous) && known?.options === digest ? known.had : {}
    const hadIn = (name: string) => Option.getOrUndefined(Record.get(before, name))
    const missing = Object.entries(before).filter(
      ([name, { count }]) => name !== "" && count > 0 && documents.every(({ document }) => document !== name)
    )
    const compared = documents.map(({ document, hadContent, place, shape }) => {
      const had = hadIn(document) ?? (hadContent ? { count: 1, now: 1, fields: [], names: [] } : undefined)
      const { had: next, warnings } = compareShapes(had, shape, isUsual(document))
      return {
        entry: [document, next] as const,
        warnings: warnings.map(placed(place)).map(within(document))
      }
    })
    const filesBefore = hadIn("")?.count ?? 0
    const areFilesGone = areGone(filesBefore, files)
    const warnings: ReadonlyArray<Warning> = [
      ...missing.map(([name]) =>
        // Nobody knows the ending of a file that is gone.
        placed({ ...(documents[0]?.place ?? { kind }), name })(warn("gone:document", name))
      ),
      ...compared.flatMap(({ warnings }) => warnings),
      ...(areFilesGone ? [warn("gone:files", "", { count: files, before: filesBefore })] : [])
    ]
    const had = Object.fromEntries<Had>([
      ...missing.map(([name, before]) => [name, { ...before, now: 0 }] as const),
      ...compared.map(({ entry }) => entry),
      ["", { count: areFilesGone ? filesBefore : files, now: files, fields: [], names: [] }]
    ])
    return { warnings, had }
  }

  return {
    /**
     * The warnings that nobody has accepted: the given ones, and those about what is gone. Forgets the accepted ones that
     * are over. A check remembers nothing; a sample has found nothing to compare.
     */
    judge: Effect.fnUntraced(function* (
      given: ReadonlyArray<Warning>,
      found: Found | undefined,
      isCheck: boolean
    ) {
      const { had: known } = yield* kept.read
      const { had, warnings } = found === undefined ? { had: {}, warnings: [] } : compare(found, known)
      const accepted = (known?.accepted ?? []).filter((one) => given.some(isAbout(one)))
      if (!isCheck && found !== undefined) yield* kept.change({ had: { options: digest, had, accepted } })
      return [...given.filter((warning) => !accepted.some(isAbout(warning))), ...warnings]
    }),

    /** Accepts what a warning of the last fetch is about. A loss is accepted as it is now. */
    accept: (warning: Warning) =>
      Effect.flatMap(kept.read, ({ had: known }) => {
        if (known === undefined) return Effect.void
        const { code, subject } = warning
        const isLoss = /^gone:(?:document|field|files|records)$/.test(code)
        return kept.change({
          had: isLoss
            ? { ...known, had: withoutGone(known.had, warning) }
            : { ...known, accepted: [...known.accepted, { code, subject }] }
        })
      })
  }
}

type About = Pick<Warning, "code" | "subject">

/** A warning stays the same if its numbers change. */
const isAbout =
  (one: About) =>
  ({ code, subject }: About): boolean =>
    one.code === code && one.subject === subject

/** The warning about the languages that no entry of a document has, if it has others. */
export const missingLanguages = (
  locales: ReadonlyArray<string>,
  found: ReadonlySet<string>
): ReadonlyArray<Warning> => {
  const keys = new Set(Array.from(found, languageKey))
  return (keys.size === 0 ? [] : locales)
    .filter((language) => !keys.has(languageKey(language)))
    .map((language) => warn("gone:language", language, { language }))
}

const compareShapes = (before: Had | undefined, { count, fields }: Shape, isUsual: boolean) => {
  const current = count < minRecords ? [] : [...fields].flatMap(([name, n]) => (n * 2 >= count ? [name] : []))
  const areRecordsGone = !isUsual && before !== undefined && areGone(before.count, count)
  const gone = (before?.fields ?? []).filter((name) => !fields.has(name))
  const fresh = current.filter((name) => before?.fields.includes(name) !== true && !kindEnd.test(name))
  const odd = new Set(gone.map(fieldOf))
  const namesBefore = before?.names ?? []
  const isOther = count > 0 && namesBefore.length > 0 && !namesBefore.some((name) => fields.has(name))
  const had: Had = {
    count: areRecordsGone ? before.count : count,
    now: count,
    // While a field has another kind than before, its new kind and its inner fields are not expected later.
    fields: [...current.filter((name) => !inField(name).some((part) => odd.has(part))), ...gone],
    names:
      isOther || count === 0
        ? namesBefore
        : [...fields].flatMap(([name, n]) =>
            count < minRecords && n === count && !/\.|\)$/.test(name) ? [name] : []
          )
  }
  const likely = (name: string) =>
    closestName(name, fresh, 1 / 2) ?? (gone.length === 1 && fresh.length === 1 ? fresh[0] : undefined)
  const all = new Set(gone)
  const isOutermost = (name: string) => {
    const [outer = ""] = name.split(".", 1)
    return outer === name || !(all.has(outer) || all.has(`${outer} (object)`))
  }
  const lost = count === 0 ? [] : gone.filter(isOutermost)
  const warnings: ReadonlyArray<Warning> = [
    ...(areRecordsGone
      ? [count === 0 ? warn("gone:empty", "") : warn("gone:records", "", { count, before: before.count })]
      : []),
    ...(isOther ? [warn("gone:names", "", { names: namesBefore.slice(0, maxHints) })] : []),
    ...lost.flatMap((field) => {
      const name = fieldOf(field)
      const [kind] = valueKinds.filter((kind) => field === `${name} (${kind})`)
      return kind !== undefined && fields.has(name) ? [warn("gone:kind", field, { name, kind })] : []
    }),
    ...lost
      .filter((name) => !kindEnd.test(name))
      .map((name, index) => {
        const other = index < maxHints ? likely(name) : undefined
        return warn("gone:field", name, { name, other })
      })
  ]
  return { had, warnings }
}

/** What the source had, without what the warning says is gone. */
const withoutGone = (had: Known["had"], { code, subject }: About): Known["had"] =>
  Record.map(had, (before, name) => {
    const isGone = (field: string) => `${name}/${field}.`.startsWith(`${subject}.`)
    return code === "gone:field"
      ? { ...before, fields: before.fields.filter((field) => !isGone(field)) }
      : name === subject
        ? { ...before, count: before.now, names: [] }
        : before
  })
