/**
 * JSON and CSV at URLs, page by page where lists have such.
 */
import * as Effect from "effect/Effect"
import type { ContentSourceDefinition } from "../../../services/ContentSource.ts"
import { define } from "../../documents/DocumentOptions.ts"
import { makeDocumentSource } from "../../documents/makeDocumentSource.ts"
import * as Requests from "../../httpClient/Requests.ts"
import { type JsonSourceConfig, JsonSourceOptions } from "./JsonSourceOptions.ts"
import { readDocument } from "./readDocument.ts"

/** A source of content for the content plugin's `sources`. */
export const jsonSource = (config: JsonSourceConfig): ContentSourceDefinition =>
  define("the JSON source", JsonSourceOptions, config, make)

const make = Effect.fnUntraced(function* (options: JsonSourceOptions) {
  const requests = yield* Requests.make({
    ...options,
    urls: Object.values(options.documents).map(({ url }) => url)
  })
  const documents = Object.entries(options.documents).map(([name, document]) =>
    readDocument(requests, name, document)
  )
  return yield* makeDocumentSource({ options, documents: () => Effect.succeed(documents) })
})
