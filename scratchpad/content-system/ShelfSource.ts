/**
 * Shelves as a source of content: a content system that Vitrine does not know, with the core of Vitrine's own sources.
 *
 * ```
 * <source id>/<shelf>.json    its items
 * ```
 *
 * Saving, `expect`, `steps`, `media`, `images`, retries and `vitrine check` come with the core.
 */
import { Effect } from "effect"
import { type ContentSource, DocumentSource } from "vitrine"
import { readShelf } from "./readShelf.ts"
import { ShelfOptions, type ShelfSourceConfig } from "./ShelfOptions.ts"

/** A source of content for the content plugin's `sources`. */
export const shelfSource = (config: ShelfSourceConfig): ContentSource.ContentSourceDefinition =>
  DocumentSource.define("the shelf source", ShelfOptions, config, make)

const make = Effect.fnUntraced(function* (options: ShelfOptions) {
  const requests = yield* DocumentSource.makeRequests(options)
  const documents = options.shelves.map((shelf) => readShelf(requests, options, shelf))
  return yield* DocumentSource.make({ options, open: () => Effect.succeed({ documents }) })
})
