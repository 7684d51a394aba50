/**
 * Records in the place of their ids: a field in `links` gets the records of another document, one level deep.
 */
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { mistake } from "../../internal/mistake.ts"
import { documentName, expects } from "../../internal/Options.ts"
import { excerpt } from "../../internal/printable.ts"
import { defaultKey, recordId } from "../../internal/recordKey.ts"
import type { SourceError } from "../../services/SourceError.ts"
import type { Warning } from "../../services/Warning.ts"
import { counted } from "./budget.ts"
import {
  type Change,
  changed,
  type Document,
  type FailedIn,
  type LinkedSource,
  Value,
  wholeOf
} from "./Document.ts"
import type { JsonObject } from "./jsonValues.ts"
import { notice, warn, withWarnings } from "./warnings.ts"
import { readAgain } from "./wholeList.ts"

/** The document that a field links to, by the name of the field. */
export const Links = expects(
  Schema.Record({ key: documentName, value: Schema.NonEmptyString }),
  'an object with the document for each field, such as { maker: "makers" }'
)
export type Links = typeof Links.Type

interface LinkedDocuments<E> {
  readonly documents: ReadonlyArray<Document<E>>
  /** Call it after all documents are read: it warns about fields that no record has. */
  readonly end: Effect.Effect<void>
}

/** Links documents. A document that others link to is read once, at its first use, and held in memory. */
export const linkRecords = Effect.fnUntraced(function* <E>(
  links: Links,
  { documents, linked = () => undefined }: LinkedSource<E>,
  failedIn: (document: string) => FailedIn
): Effect.fn.Return<LinkedDocuments<E | SourceError>, SourceError> {
  if (Object.keys(links).length === 0) return { documents, end: Effect.void }
  const held = new Map<string, Effect.Effect<Held, E | SourceError>>()
  for (const name of Array.dedupe(Object.values(links))) {
    const document = documents.find((document) => document.name === name) ?? linked(name)
    if (document === undefined) {
      const known = documents.map(({ name }) => name)
      return yield* failedIn(name)(mistake("links:document", {}, { known }))
    }
    held.set(name, yield* Effect.cached(hold(document, failedIn(name))))
  }
  const seen = new Set<string>()

  const linking = Effect.forEach(Object.entries(links), ([field, target]) =>
    Effect.map(held.get(target) ?? nothing, ({ records }) => ({ field, target, records }))
  ).pipe(Effect.map((targets) => makeLinking(targets, seen)))

  return {
    documents: documents.map((document) => {
      const records = held.get(document.name)
      const content = records === undefined ? document.content : contentOf(records)
      return { ...document, content: changed(content, linking) }
    }),
    end: Effect.suspend(() =>
      notice(
        Object.keys(links)
          .filter((field) => !seen.has(field))
          .map((name) => warn("links:unused", "", { name }))
      )
    )
  }
})

/** A document that is held in memory. */
interface Held {
  readonly value: ReadonlyArray<unknown>
  /** Its records by their ids. */
  readonly records: ReadonlyMap<string, unknown>
  /** The warnings from reading it. */
  readonly warnings: ReadonlyArray<Warning>
}

const nothing = Effect.succeed<Held>({ value: [], records: new Map(), warnings: [] })

const hold = <E>(
  { content, key = defaultKey }: Document<E>,
  failed: FailedIn
): Effect.Effect<Held, E | SourceError> =>
  Effect.flatMap(readAgain(withWarnings(counted(wholeOf(content)))), ([value, warnings]) => {
    if (!Array.isArray(value)) return failed(mistake("links:list", {}))
    const idOf = recordId(key)
    const records = new Map(
      value.flatMap((record) => Array.fromOption(idOf(record)).map((id) => [id, record] as const))
    )
    return Effect.succeed({ value, records, warnings })
  })

const contentOf = <E>(held: Effect.Effect<Held, E>) =>
  Value({ value: Effect.flatMap(held, ({ value, warnings }) => Effect.as(notice(warnings), value)) })

interface Target {
  readonly field: string
  /** The name of the document. */
  readonly target: string
  readonly records: ReadonlyMap<string, unknown>
}

/** How many ids without a record a warning lists. */
const maxNamed = 5

const nothingLost = { count: 0, named: new Set<string>() }

/** Resolves the links of one document, and then warns about ids without a record. Adds the fields that occur to `seen`. */
const makeLinking = (targets: ReadonlyArray<Target>, seen: Set<string>): Change => {
  const lost = new Map<string, { readonly count: number; readonly named: ReadonlySet<string> }>()

  const resolveIn = (record: JsonObject): JsonObject => {
    const linked = targets.flatMap(({ field, records }) => {
      if (!Object.hasOwn(record, field)) return []
      seen.add(field)
      const value = linkedValue(record[field], records, (id) => {
        const { count, named } = lost.get(field) ?? nothingLost
        lost.set(field, { count: count + 1, named: named.size < maxNamed ? new Set([...named, id]) : named })
      })
      return [[field, value] as const]
    })
    return linked.length === 0 ? record : { ...record, ...Object.fromEntries(linked) }
  }

  const resolve = (record: unknown) => (Predicate.isReadonlyRecord(record) ? resolveIn(record) : record)

  const warnings = () =>
    targets.flatMap(({ field, target }) => {
      const { count, named } = lost.get(field) ?? nothingLost
      if (count === 0) return []
      const ids = [...named].map(excerpt)
      return [warn("links:lost", field, { name: field, target, count, ids, hasMore: count > maxNamed })]
    })

  return {
    records: (page) => page.map(resolve),
    value: resolve,
    keys: resolveIn,
    end: Effect.suspend(() => notice(warnings()))
  }
}

/**
 * The value for an id, or for a list of ids. A cell of CSV has several ids with commas between them; a text of which no
 * part is an id stays as it is.
 */
const linkedValue = (
  value: unknown,
  records: ReadonlyMap<string, unknown>,
  isLost: (id: string) => void
): unknown => {
  const recordOf = (id: unknown): unknown => {
    if (!Predicate.isString(id) && !Predicate.isNumber(id)) return id
    const record = records.get(String(id))
    if (record === undefined) isLost(String(id))
    return record ?? id
  }
  if (Array.isArray(value)) return value.map(recordOf)
  if (!Predicate.isString(value) || records.has(value)) return recordOf(value)
  const ids = value.split(",").flatMap((id) => id.trim() || [])
  if (!ids.some((id) => records.has(id))) return value.trim() === "" ? value : recordOf(value)
  return ids.length > 1 ? ids.map(recordOf) : recordOf(ids[0])
}
