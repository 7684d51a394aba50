/**
 * The cheap question: what has changed last, and how many there are, of each type, and of the media library.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import type { CmsError } from "../../documents/Cms.ts"
import { type Ask, type Edition, latest, latestField, latestFile } from "./api.ts"
import { readFile } from "./media.ts"
import { languagesOf } from "./readType.ts"
import { readAnswer, readLatestFile } from "./responses.ts"
import type { StrapiOptions } from "./StrapiOptions.ts"

/** The path of the media library. */
const mediaLibrary = "upload/files"

/** What there was at one moment. */
export interface Probe {
  /** Equal while nothing has changed. */
  readonly text: string
  /** Whether Strapi says when something of each type changes. */
  readonly seesTypes: boolean
  /** Whether the token may see when a file of the media library changes. */
  readonly seesFiles: boolean
}

type Probed = Pick<StrapiOptions, "fallback" | "locales" | "status" | "types">

export const probe = Effect.fnUntraced(function* (ask: Ask, options: Probed) {
  const marks = yield* Effect.forEach(Object.keys(options.types), (name) => markOf(ask, name, options))
  const file = yield* ask(mediaLibrary, latestFile).pipe(
    Effect.map(({ json }) => Option.some(readLatestFile(json))),
    Effect.catchIf(isLasting, () => Effect.succeedNone)
  )
  return {
    seesTypes: !marks.includes(unknown),
    text: JSON.stringify([marks, file]),
    seesFiles: Option.isSome(file)
  } satisfies Probe
})

/** All languages at once; single types do not answer that. */
const markOf = Effect.fnUntraced(function* (ask: Ask, name: string, { locales, status, ...options }: Probed) {
  if (locales.length === 0) {
    return yield* markOfEdition(ask, name, { status })
  }
  const whole = yield* markOfEdition(ask, name, { status, locale: "*" })
  if (whole !== none && whole !== unknown) {
    return whole
  }
  const marks = yield* Effect.forEach(languagesOf({ locales, ...options }), (locale) =>
    markOfEdition(ask, name, { status, locale })
  )
  return marks.includes(unknown) ? unknown : marks.join()
})

/** What is not there, or not to be read: the fetch says so. */
const none = ""

/** Strapi does not answer the question. */
const unknown = "?"

const markOfEdition = (ask: Ask, name: string, edition: Edition) =>
  ask(name, latest(edition)).pipe(
    Effect.map(({ json }) => readMark(readAnswer(json), latestField(edition))),
    Effect.catchIf(isLasting, ({ status }) =>
      Effect.succeed(status !== undefined && unreadable.has(status) ? none : unknown)
    )
  )

const unreadable: ReadonlySet<number> = new Set([401, 403, 404])

const isLasting = ({ isTransient }: CmsError): boolean => !isTransient

const readMark = (answer: ReturnType<typeof readAnswer>, field: string): string => {
  switch (answer.kind) {
    case "page":
      return `${answer.items[0]?.[field]} ${answer.total}`
    case "single":
      return String(answer.item[field])
    case "strange":
      return unknown
  }
}

/** The documents of a type, and the fields of its entries. */
export interface Seen {
  readonly own: ReadonlySet<unknown>
  /** Those that relations have brought along. */
  readonly related: ReadonlySet<unknown>
  readonly hasFiles: boolean
}

export const lookInto = (content: unknown): Seen => {
  const own = new Set([content].flat().map(documentIdOf))
  const related = new Set<unknown>()
  let hasFiles = false
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) {
      value.forEach(visit)
    } else if (Predicate.isReadonlyRecord(value)) {
      if (Option.isSome(readFile(value))) {
        hasFiles = true
        return
      }
      const documentId = documentIdOf(value)
      if (documentId !== undefined && !own.has(documentId)) related.add(documentId)
      Object.values(value).forEach(visit)
    }
  }
  visit(content)
  return { own, related, hasFiles }
}

const documentIdOf = (value: unknown): unknown =>
  Predicate.hasProperty(value, "documentId") ? value.documentId : undefined
