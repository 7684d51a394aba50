/**
 * A source of Directus' content: each collection is a document.
 *
 * ```
 * <source id>/<collection>.json    the items of a collection, or the one of a singleton
 * <source id>/media/               the files that they have
 * ```
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { sha256OfText } from "../../../internal/sha256.ts"
import type { ContentSourceDefinition, FetchTarget } from "../../../services/ContentSource.ts"
import { credentials } from "../../documents/Cms.ts"
import { Value } from "../../documents/Document.ts"
import { define } from "../../documents/DocumentOptions.ts"
import { makeDocumentSource } from "../../documents/makeDocumentSource.ts"
import { makeLastRead } from "../../documents/pollAnswer.ts"
import { notice } from "../../documents/readText.ts"
import { type Ask, makeAsk, mayReadActivity, readActivity } from "./api.ts"
import {
  CheckedOptions,
  type Collection,
  type DirectusOptions,
  type DirectusSourceConfig
} from "./DirectusOptions.ts"
import { readFile, withUrls } from "./files.ts"
import { inLanguages, readTranslations, translationsField } from "./languages.ts"
import { hasField, readCollection } from "./readCollection.ts"

/** How long nothing is read though nothing seems to have changed: a collection may be left out of the activity, for example. */
const longest = Duration.hours(1)

/** A source of content for the content plugin's `sources`: the collections of a Directus, each as a document. */
export const directusSource = (config: DirectusSourceConfig): ContentSourceDefinition =>
  define("the Directus source", CheckedOptions, config, make)

const make = Effect.fnUntraced(function* (options: DirectusOptions) {
  const { collections, locales, url } = options
  const ask = yield* makeAsk(options)
  const lastRead = yield* makeLastRead

  const documentOf = Effect.fnUntraced(function* (
    [name, collection]: readonly [string, Collection],
    isCheck: boolean | undefined
  ) {
    const hasLanguages = locales.length > 0 && (yield* hasField(ask, name, translationsField))
    const read = Effect.tap(readCollection(ask, name, collection, { ...options, hasLanguages }), () =>
      isCheck ? Effect.void : lastRead.isNow
    )
    const value = Effect.gen(function* () {
      const content = yield* read
      if (!hasLanguages) return withUrls(content, url)
      const { items, warnings } = readTranslations([content].flat(), { ...options, ...collection })
      yield* notice(warnings)
      return withUrls(inLanguages(items, options), url)
    })
    return {
      name,
      key: hasLanguages ? [collection.key, "locale"] : [collection.key],
      url: `${url}/items/${name}`,
      content: Value({ value }),
      read
    }
  })

  const documents = ({ isCheck }: Pick<FetchTarget, "isCheck">) =>
    Effect.forEach(Object.entries(collections), (entry) => documentOf(entry, isCheck))

  /** Where Directus does not say what has happened, the content itself does: what has not changed is not sent again. */
  const contentMark = Effect.flatMap(documents({}), (found) =>
    Effect.map(
      Effect.forEach(found, ({ read }) => read),
      (contents) => sha256OfText(contents.flat().map(digestOf).join())
    )
  )

  const poll = Effect.fnUntraced(function* (before: Option.Option<string>) {
    const activity = yield* latestActivity(ask)
    const cursor = Option.isSome(activity) ? activity.value : yield* contentMark
    return yield* lastRead.changesSince(before, cursor, longest)
  })

  return yield* makeDocumentSource({
    options,
    documents,
    poll,
    reader: readFile(url),
    serverHeaders: credentials(options.token),
    url
  })
})

const digestOf = (item: unknown): string => sha256OfText(JSON.stringify(item))

/**
 * Stays equal until something changes. `None` if the token may not see the activity of all users: a token that sees its own actions
 * only, as every user of the app may, would not see any change.
 */
const latestActivity = (ask: Ask) =>
  Effect.gen(function* () {
    const { json: permissions } = yield* ask("permissions/me")
    if (!mayReadActivity(permissions)) return Option.none()
    const { json } = yield* ask("activity", {
      "aggregate[max]": "id",
      "aggregate[count]": "*",
      filter: { action: { _in: ["create", "update", "delete"] } }
    })
    return readActivity(json)
  }).pipe(
    Effect.catchIf(
      ({ isTransient }) => !isTransient,
      () => Effect.succeedNone
    )
  )
