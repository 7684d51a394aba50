/**
 * A source of the content of Sanity: each query in GROQ is a document.
 *
 * ```
 * <source id>/<query>.json    the records of the result, or one value
 * <source id>/media/          the pictures and files in these records
 * ```
 */
import * as Effect from "effect/Effect"
import type * as Option from "effect/Option"
import type { ContentSourceDefinition } from "../../../services/ContentSource.ts"
import { changesSince } from "../../../services/ContentSource.ts"
import type { SourceError } from "../../../services/SourceError.ts"
import type {} from "../../documents/Cms.ts"
import { type Document, Value } from "../../documents/Document.ts"
import { define } from "../../documents/DocumentOptions.ts"
import { makeDocumentSource } from "../../documents/makeDocumentSource.ts"
import { notice } from "../../documents/warnings.ts"
import { type Api, makeApi } from "./api.ts"
import { readAsset, withAssetUrls } from "./assets.ts"
import { makeLiveEvents } from "./liveEvents.ts"
import { type Query, queryOf, SanityOptions, type SanitySourceConfig } from "./SanityOptions.ts"

/** A source of content for the content plugin's `sources`. */
export const sanitySource = (config: SanitySourceConfig): ContentSourceDefinition =>
  define("the Sanity source", SanityOptions, config, make)

const make = Effect.fnUntraced(function* (options: SanityOptions) {
  const { live, perspective, queries, useCdn } = options
  const api = yield* makeApi(options)

  const documents = Object.entries(queries).map(([name, query]): Document<SourceError> => {
    const { key, ...asked } = queryOf(query)
    return { name, key, content: Value({ value: answerOf(api, options, name, asked) }) }
  })

  return yield* makeDocumentSource({
    options,
    open: () => Effect.succeed({ documents, reader: readAsset(options) }),
    // The cache gives old content once after a change, and is read at each tick.
    poll: useCdn ? undefined : (before: Option.Option<string>) => poll(api, perspective, before),
    ...(live && !useCdn ? yield* makeLiveEvents(options) : {})
  })
})

const answerOf = Effect.fnUntraced(function* (
  api: Api,
  options: SanityOptions,
  name: string,
  query: Pick<Query, "groq" | "params">
) {
  const { value, warnings } = withAssetUrls(yield* api.ask({ ...query, name }), options)
  yield* notice(warnings)
  return value
})

/** The newest change of a dataset, and the number of its documents: each shows changes that the other does not. */
const probe = '{"count": count(*), "last": *|order(_updatedAt desc)[0]{_id,_rev,_updatedAt}}'

/** Drafts and releases are counted as documents of their own: without that, a discarded draft changes neither figure. */
const poll = (api: Api, perspective: SanityOptions["perspective"], before: Option.Option<string>) =>
  Effect.map(
    api.ask({ groq: probe, perspective: perspective === "published" ? "published" : "raw" }),
    (result) => changesSince(before, JSON.stringify(result))
  )
