/**
 * What all sources of documents have in common, as a user writes it.
 */

import type { TableExpectation } from "./expect/ExpectConfig.ts"
import type { ImageConfig } from "./images/ImageConfig.ts"
import type { MediaConfig } from "./media/MediaConfig.ts"

/** Makes another document of one: its records as an array, or its value. The document is held in memory as a whole. */
export type Step = (document: unknown, about: { readonly name: string }) => unknown

/** As a step is written in a configuration: of records, unless it declares its document as `unknown`. */
export type RecordsStep = (
  records: ReadonlyArray<Readonly<Record<string, unknown>>>,
  about: { readonly name: string }
) => unknown

export interface DocumentConfig<FieldSchema = never, Secret = string> {
  /** Unique among the sources, and the name of this source's folder in a version. */
  readonly id: string

  /**
   * What must be in documents, by their names. A fetch that brings something else is rejected: the active version stays.
   * Default nothing.
   */
  readonly expect?: Readonly<Record<string, TableExpectation<FieldSchema>>>

  /**
   * Run for each document, one after the other, before anything is expected of it. Promises are awaited. One for a
   * document that is no list declares it as `unknown`. Default none.
   */
  readonly steps?: ReadonlyArray<RecordsStep>

  /**
   * Time for each response to begin, and for every pause in it, in milliseconds. Default 60000.
   */
  readonly maxTimeout?: number

  /** The most that a response may have, in bytes; it is held in memory. Default 64 MiB. */
  readonly maxBytes?: number

  /** Links in documents whose files are saved too. Default none. */
  readonly media?: MediaConfig<Secret>

  /** Smaller pictures of those that documents show. Default none. */
  readonly images?: ImageConfig
}
