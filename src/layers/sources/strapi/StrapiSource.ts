/**
 * A source of Strapi's content, version 5: each type is a document.
 *
 * ```
 * <source id>/<type>.json    the entries of a collection, or the entry of a single type
 * <source id>/media/         the files of the media library in these entries
 * ```
 */
import * as Effect from "effect/Effect"
import type { ContentSourceDefinition } from "../../../services/ContentSource.ts"
import { Value } from "../../documents/Document.ts"
import { define } from "../../documents/DocumentOptions.ts"
import { makeDocumentSource } from "../../documents/makeDocumentSource.ts"
import { makeAsk } from "./api.ts"
import { readFile, withoutFormats } from "./media.ts"
import { isLocalized, readPlain, readTranslations } from "./readType.ts"
import { lasting } from "./responses.ts"
import {
  CheckedOptions,
  type StrapiOptions,
  type StrapiSourceConfig,
  type StrapiType
} from "./StrapiOptions.ts"

/** A source of content for the content plugin's `sources`: the types of a Strapi 5, each as a document. */
export const strapiSource = (config: StrapiSourceConfig): ContentSourceDefinition =>
  define("the Strapi source", CheckedOptions, config, make)

const make = Effect.fnUntraced(function* (options: StrapiOptions) {
  const { locales, status, types, url } = options
  const ask = yield* makeAsk(options)

  const documentOf = Effect.fnUntraced(function* ([name, type]: readonly [string, StrapiType]) {
    const hasLanguages = locales.length > 0 && (yield* isLocalized(ask, name, status))
    const read = hasLanguages
      ? readTranslations(ask, name, type, options)
      : readPlain(ask, name, type, options)
    return {
      name,
      key: hasLanguages ? ["documentId", "locale"] : ["documentId"],
      url: `${url}/api/${name}`,
      content: Value({ value: Effect.map(read, withoutFormats) })
    }
  })

  return yield* makeDocumentSource({
    options,
    open: () =>
      Effect.map(Effect.forEach(Object.entries(types), documentOf), (documents) => ({
        documents,
        reader: readFile
      })),
    lasting,
    url
  })
})
