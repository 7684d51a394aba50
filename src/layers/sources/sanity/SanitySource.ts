/**
 * A source of content that is kept in Sanity: what queries in GROQ answer.
 *
 * ```
 * <source id>/<query>.json    the records that a query answers, or one value
 * <source id>/media/          the pictures and files that they refer to
 * ```
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type { ContentSourceDefinition } from "../../../services/ContentSource.ts"
import type { CmsError } from "../../documents/Cms.ts"
import { type Document, Value } from "../../documents/Document.ts"
import { define } from "../../documents/DocumentOptions.ts"
import { makeDocumentSource } from "../../documents/makeDocumentSource.ts"
import { changesSince } from "../../documents/pollAnswer.ts"
import { notice } from "../../documents/readText.ts"
import { type Api, makeApi } from "./api.ts"
import { readAsset, withAssetUrls } from "./assets.ts"
import { type LiveEvents, makeLiveEvents } from "./liveEvents.ts"
import { type Query, queryOf, SanityOptions, type SanitySourceConfig } from "./SanityOptions.ts"

/** A source of content for the content plugin's `sources`. */
export const sanitySource = (config: SanitySourceConfig): ContentSourceDefinition =>
  define("the Sanity source", SanityOptions, config, make)

const make = Effect.fnUntraced(function* (options: SanityOptions) {
  const { live, queries, useCdn } = options
  const names = Object.keys(queries)
  const api = yield* makeApi(options)
  const events = yield* makeLiveEvents(options, names)

  const documents = Object.entries(queries).map(([name, query]): Document<CmsError> => {
    const { key, ...asked } = queryOf(query)
    return { name, key, content: Value({ value: answerOf(api, events, options, name, asked) }) }
  })

  return yield* makeDocumentSource({
    options,
    documents: () => Effect.succeed(documents),
    reader: readAsset(options),
    // The cache may be behind with changes too.
    ...(useCdn ? {} : { poll: (before: Option.Option<string>) => poll(api, events, before) }),
    ...(live ? { changes: events.changes, data: events.data } : {})
  })
})

const answerOf = Effect.fnUntraced(function* (
  api: Api,
  events: LiveEvents,
  options: SanityOptions,
  name: string,
  query: Pick<Query, "groq" | "params">
) {
  const { useCdn } = options
  const lastLiveEventId = useCdn ? yield* events.lastEventId : Option.none()
  const { result, syncTags } = yield* api.ask(
    {
      ...query,
      name,
      ...Option.match(lastLiveEventId, { onNone: () => ({}), onSome: (id) => ({ lastLiveEventId: id }) })
    },
    useCdn
  )
  yield* events.answered(name, syncTags)
  const { value, warnings } = withAssetUrls(result, options)
  yield* notice(warnings)
  return value
})

/** The newest change in what is seen of the dataset, and how much there is: one is seen by the other where it is not by itself. */
const probe = '{"count": count(*), "last": *|order(_updatedAt desc)[0]{_id,_rev,_updatedAt}}'

const poll = Effect.fnUntraced(function* (api: Api, events: LiveEvents, before: Option.Option<string>) {
  const heard = yield* events.count
  const { result } = yield* api.ask({ groq: probe }, false)
  return changesSince(before, JSON.stringify([heard, result]))
})
