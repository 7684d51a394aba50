/**
 * A source of Strapi's content, version 5: each type is a document.
 *
 * ```
 * <source id>/<type>.json    the entries of a collection, or the one of a single type
 * <source id>/media/         the files of the media library that they have
 * ```
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { makeWarnOnce } from "../../../internal/warnOnce.ts"
import type { ContentSourceDefinition, FetchTarget } from "../../../services/ContentSource.ts"
import { Value } from "../../documents/Document.ts"
import { define } from "../../documents/DocumentOptions.ts"
import { makeDocumentSource } from "../../documents/makeDocumentSource.ts"
import { makeLastRead } from "../../documents/pollAnswer.ts"
import { makeAsk } from "./api.ts"
import { readFile, withoutFormats } from "./media.ts"
import { lookInto, type Probe, probe, type Seen } from "./probe.ts"
import { isLocalized, readPlain, readTranslations } from "./readType.ts"
import { lasting } from "./responses.ts"
import {
  CheckedOptions,
  type StrapiOptions,
  type StrapiSourceConfig,
  type StrapiType
} from "./StrapiOptions.ts"

/** How long nothing is read though nothing seems to have changed: a file that is deleted, for example, shows nowhere. */
const longest = Duration.hours(1)

/** The same, where a change may not show. Polls follow each other faster while changes settle. */
const longestUnsure = Duration.minutes(1)

/** A source of content for the content plugin's `sources`: the types of a Strapi 5, each as a document. */
export const strapiSource = (config: StrapiSourceConfig): ContentSourceDefinition =>
  define("the Strapi source", CheckedOptions, config, make)

const make = Effect.fnUntraced(function* (options: StrapiOptions) {
  const { locales, status, types, url } = options
  const ask = yield* makeAsk(options)
  const seen = yield* Ref.make<ReadonlyMap<string, Seen>>(new Map())
  const lastRead = yield* makeLastRead
  const warnOnce = makeWarnOnce(
    (reason) =>
      `${reason}: whether they have changed cannot be asked, so that everything is read again, at most once a minute.`
  )

  /** Remembers what it contains, and returns what is to be saved. */
  const take = Effect.fnUntraced(function* (name: string, content: unknown) {
    const seenNow = lookInto(content)
    yield* Ref.update(seen, (before) => new Map([...before, [name, seenNow]]))
    yield* lastRead.isNow
    return withoutFormats(content)
  })

  const documentOf = Effect.fnUntraced(function* (
    [name, type]: readonly [string, StrapiType],
    isCheck: boolean | undefined
  ) {
    const hasLanguages = locales.length > 0 && (yield* isLocalized(ask, name, status))
    const read = hasLanguages
      ? readTranslations(ask, name, type, options)
      : readPlain(ask, name, type, options)
    return {
      name,
      key: hasLanguages ? ["documentId", "locale"] : ["documentId"],
      url: `${url}/api/${name}`,
      content: Value({
        value: isCheck
          ? Effect.map(read, withoutFormats)
          : Effect.flatMap(read, (content) => take(name, content))
      })
    }
  })

  /** Why an equal probe does not prove that nothing has changed. */
  const whyUnsure = ({ seesFiles, seesTypes }: Probe) =>
    Effect.map(Ref.get(seen), (seen) => {
      const all = [...seen.values()]
      const isOwn = (documentId: unknown) => all.some(({ own }) => own.has(documentId))
      return [
        ...(seesTypes ? [] : ["Strapi does not say when entries were published"]),
        ...(all.some(({ related }) => [...related].some((documentId) => !isOwn(documentId)))
          ? ['Relations give entries of types that are not in "types"']
          : []),
        ...(!seesFiles && all.some(({ hasFiles }) => hasFiles)
          ? ['There are files, which the token may not list ("find" of Upload)']
          : [])
      ]
    })

  const poll = Effect.fnUntraced(function* (before: Option.Option<string>) {
    const answer = yield* probe(ask, options)
    const reasons = yield* whyUnsure(answer)
    yield* Effect.forEach(reasons, warnOnce)
    return yield* lastRead.changesSince(before, answer.text, reasons.length === 0 ? longest : longestUnsure)
  })

  const documents = ({ isCheck }: FetchTarget) =>
    Effect.forEach(Object.entries(types), (entry) => documentOf(entry, isCheck))
  return yield* makeDocumentSource({ options, documents, lasting, poll, reader: readFile, url })
})
