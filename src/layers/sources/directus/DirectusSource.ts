/**
 * A source of Directus' content: each collection is a document.
 *
 * ```
 * <source id>/<collection>.json    the items of a collection, or the item of a singleton
 * <source id>/media/               the files of these items
 * ```
 */
import * as Effect from "effect/Effect"
import type { ContentSourceDefinition } from "../../../services/ContentSource.ts"
import { credentials } from "../../documents/Cms.ts"
import { Value } from "../../documents/Document.ts"
import { define } from "../../documents/DocumentOptions.ts"
import { makeDocumentSource } from "../../documents/makeDocumentSource.ts"
import { notice } from "../../documents/warnings.ts"
import { makeAsk } from "./api.ts"
import {
  CheckedOptions,
  type Collection,
  type DirectusOptions,
  type DirectusSourceConfig
} from "./DirectusOptions.ts"
import { readFile, withUrls } from "./files.ts"
import { inLanguages, readTranslations, translationsField } from "./languages.ts"
import { hasField, readCollection } from "./readCollection.ts"

/** A source of content for the content plugin's `sources`: the collections of a Directus, each as a document. */
export const directusSource = (config: DirectusSourceConfig): ContentSourceDefinition =>
  define("the Directus source", CheckedOptions, config, make)

const make = Effect.fnUntraced(function* (options: DirectusOptions) {
  const { collections, locales, url } = options
  const ask = yield* makeAsk(options)

  const documentOf = Effect.fnUntraced(function* ([name, collection]: readonly [string, Collection]) {
    const hasLanguages = locales.length > 0 && (yield* hasField(ask, name, translationsField))
    const value = Effect.gen(function* () {
      const content = yield* readCollection(ask, name, collection, { ...options, hasLanguages })
      if (!hasLanguages) return withUrls(content, url)
      const { items, warnings } = readTranslations([content].flat(), { ...options, ...collection })
      yield* notice(warnings)
      return withUrls(inLanguages(items, options), url)
    })
    return {
      name,
      key: hasLanguages ? [collection.key, "locale"] : [collection.key],
      url: `${url}/items/${name}`,
      content: Value({ value })
    }
  })

  return yield* makeDocumentSource({
    options,
    open: () =>
      Effect.map(Effect.forEach(Object.entries(collections), documentOf), (documents) => ({
        documents,
        reader: readFile(url)
      })),
    serverHeaders: credentials(options.token),
    url
  })
})
