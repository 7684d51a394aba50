/**
 * JSON and CSV at URLs, page by page where lists have such.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import type { ContentSourceDefinition, FetchTarget } from "../../../services/ContentSource.ts"
import { define } from "../../documents/DocumentOptions.ts"
import { makeDocumentSource } from "../../documents/makeDocumentSource.ts"
import * as Requests from "../../httpClient/Requests.ts"
import { type JsonSourceConfig, JsonSourceOptions } from "./JsonSourceOptions.ts"
import { readDocument, savedColumns } from "./readDocument.ts"

/** A source of content for the content plugin's `sources`. */
export const jsonSource = (config: JsonSourceConfig): ContentSourceDefinition =>
  define("the JSON source", JsonSourceOptions, config, make)

const make = Effect.fnUntraced(function* (options: JsonSourceOptions) {
  const requests = yield* Requests.make({
    ...options,
    urls: Object.values(options.documents).map(({ url }) => url)
  })
  const platform = yield* Effect.context<FileSystem.FileSystem | Path.Path>()

  /** What was saved is what the server gave, unless steps have made something else of it. */
  const columnsBefore = (name: string, target: FetchTarget) =>
    options.steps.length > 0 ? Effect.succeedNone : Effect.provide(savedColumns(name, target), platform)

  return yield* makeDocumentSource({
    options,
    open: (target) =>
      Effect.succeed({
        documents: Object.entries(options.documents).map(([name, document]) =>
          readDocument(requests, name, document, columnsBefore(name, target))
        )
      })
  })
})
