/**
 * What all sources of documents have in common, as a user writes it.
 */

import type { TableExpectation } from "./expect/ExpectConfig.ts"
import type { ImageConfig } from "./images/ImageConfig.ts"
import type { MediaConfig } from "./media/MediaConfig.ts"

/** A record before anything is expected of it: what its fields are is known to who writes the step. */
// biome-ignore lint/suspicious/noExplicitAny: as `JSON.parse` has it, or each step would begin with checks.
type StepRecord = Readonly<Record<string, any>>

/** As a step is run. */
export type Step = (document: unknown, about: { readonly name: string }) => unknown

/**
 * Makes another document of one, which is held in memory as a whole: of its records, or of what the function declares its document as,
 * `unknown` or a type of its own.
 */
export type RecordsStep = {
  // As a method: a function that declares the type of its records is one as well.
  step(records: ReadonlyArray<StepRecord>, about: { readonly name: string }): unknown
}["step"]

export interface DocumentConfig<FieldSchema = never, Secret = string> {
  /** Unique among the sources, and the name of this source's folder in a version. */
  readonly id: string

  /**
   * What must be in documents, by their names. A fetch that brings something else is rejected: the active version stays.
   * Default nothing.
   */
  readonly expect?: Readonly<Record<string, TableExpectation<FieldSchema>>>

  /** Run for each document, one after the other, before anything is expected of it. Promises are awaited. Default none. */
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
