/**
 * Warnings and failures about mistakes of documents, for their editors. Every reader of a document adds its warnings
 * with `notice`; the fetch collects them.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import * as Ref from "effect/Ref"
import { english } from "../../internal/englishMistakes.ts"
import {
  at,
  type Code,
  type Fields,
  type Mistake,
  mistake,
  mistakeText,
  sentenceOf
} from "../../internal/mistake.ts"
import type { MistakePlace } from "../../internal/mistakeParts.ts"
import type { FetchedSource, PreviousContent } from "../../services/ContentSource.ts"
import { SourceError } from "../../services/SourceError.ts"
import { type Warning, warningCodes } from "../../services/Warning.ts"

/** Mistakes whose warnings have the code of another mistake. Without a code, a warning is a `content:note`. */
const kinds: Partial<Record<Mistake["code"], string>> = {
  "csv:program": "cell:error",
  "csv:shortened": "number:large",
  "gone:empty": "gone:document",
  "gone:kind": "gone:field",
  "gone:names": "gone:document",
  "json:digits": "number:large",
  "json:twice": "names:twice",
  "keys:twice": "names:twice",
  "more:warnings": "content:more",
  "names:hidden": "names:alike",
  "rights:status": "rights:field",
  "rights:translations": "rights:field"
}

/** The warning about a mistake. */
export const warningOf = (
  subject: string,
  mistake: Mistake,
  code = kinds[mistake.code] ?? (warningCodes.includes(mistake.code) ? mistake.code : "content:note")
): Warning => ({ code, subject, text: mistakeText(mistake), mistake })

/** The warning about a mistake whose place the reader of the document, or the fetch, adds. */
export const warn = <C extends Code>(code: C, subject: string, ...fields: Fields[C]): Warning =>
  warningOf(subject, mistake(code, {}, ...fields))

/** The warning with the place that its text begins with. */
export const placed =
  (place: MistakePlace) =>
  ({ code, mistake, subject, text }: Warning): Warning =>
    mistake === undefined
      ? { code, subject, text: `${english.place(place)}: ${text}` }
      : warningOf(subject, at(place, mistake), code)

/** The warning, about a part of something larger: of a document, a source. */
export const within =
  (whole: string) =>
  (warning: Warning): Warning => ({
    ...warning,
    subject: warning.subject === "" ? whole : `${whole}/${warning.subject}`
  })

/** The failure about a mistake of the content. */
export const failureAbout = (
  mistake: Mistake,
  more: { readonly cause?: unknown; readonly isTransient?: boolean } = {}
): SourceError => {
  const place = english.place(mistake.place)
  return new SourceError({
    place: place || undefined,
    detail: sentenceOf(mistake),
    mistakes: [mistake],
    ...more
  })
}

/** A warning that may occur several times, for example on each page of a list. */
export interface Notice {
  /** Notices with the same `about` become one warning. */
  readonly about: string
  readonly count: number
  /** The warning, for the total count. The warning of the first notice is used. */
  readonly warning: (count: number) => Warning
}

type Notices = ReadonlyMap<string, Notice>

class Collected extends Context.Reference<Collected>()("vitrine/Warnings", {
  defaultValue: () => Option.none<Ref.Ref<Notices>>()
}) {}

/**
 * Adds warnings for the editors. While a document is read, a subject is the field, or empty: the document's name and the
 * source's id are added afterwards. Elsewhere it is the document, the document and field, or a file. Outside of a fetch, for example in a poll, they are dropped: the next fetch reports
 * them.
 */
export const notice = (warnings: ReadonlyArray<Warning>): Effect.Effect<void> =>
  noticeCounted(warnings.map((warning) => ({ about: warning.text, count: 1, warning: () => warning })))

/** Adds warnings, one for all notices with the same `about`. */
export const noticeCounted = (notices: ReadonlyArray<Notice>): Effect.Effect<void> =>
  notices.length === 0
    ? Effect.void
    : Effect.flatMap(
        Collected,
        Option.match({
          onNone: () => Effect.void,
          onSome: (collected) =>
            Ref.update(collected, (before) => {
              const all = new Map(before)
              for (const notice of notices) {
                const same = all.get(notice.about)
                all.set(
                  notice.about,
                  same === undefined ? notice : { ...same, count: same.count + notice.count }
                )
              }
              return all
            })
        })
      )

/** Runs an effect, and returns its warnings beside its value. The warnings of a failed run are lost. */
export const withWarnings = <A, E, R>(
  effect: Effect.Effect<A, E, R>
): Effect.Effect<readonly [A, ReadonlyArray<Warning>], E, R> =>
  Effect.flatMap(Ref.make<Notices>(new Map()), (collected) =>
    Effect.zip(
      Effect.provideService(effect, Collected, Option.some(collected)),
      Effect.map(Ref.get(collected), (notices) =>
        Array.from(notices.values(), ({ count, warning }) => warning(count))
      )
    )
  )

/** The first warnings, and the number of the others. */
const firstOf = (warnings: ReadonlyArray<Warning>, most: number): ReadonlyArray<Warning> =>
  warnings.length > most
    ? [...warnings.slice(0, most), warn("more:warnings", "", { count: warnings.length - most })]
    : warnings

/** The warnings of a fetch. */
export const listed = (warnings: ReadonlyArray<Warning>): Pick<FetchedSource, "warnings"> => ({
  warnings: warnings.length === 0 ? undefined : firstOf(warnings, 100)
})

/** Logs the warnings that the last fetch did not have. */
export const makeSayWarnings = () => {
  const logged = Ref.unsafeMake<ReadonlySet<string>>(new Set())
  return (warnings: ReadonlyArray<Warning>): Effect.Effect<void> =>
    Effect.flatMap(Ref.getAndSet(logged, new Set(warnings.map(({ text }) => text))), (before) =>
      Effect.forEach(
        firstOf(
          warnings.filter(({ text }) => !before.has(text)),
          10
        ),
        ({ text }) => Effect.logWarning(text),
        { discard: true }
      )
    )
}

/** `null` and a line break. Every list and every object with content has more bytes. */
const emptyBytes = 5

/** Whether a file of the last version contains more than `null`, an empty list or an empty object. */
export const hadRecords = (previous: Option.Option<PreviousContent>, name: string): boolean =>
  Option.exists(
    Option.flatMap(previous, ({ files }) => Record.get(files, name)),
    ({ size }) => size > emptyBytes
  )
