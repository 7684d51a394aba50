/**
 * The options of every source of documents.
 */
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Predicate from "effect/Predicate"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { idOf, isPlainFileName } from "../../files/fileName.ts"
import {
  decodeOptions,
  documentName,
  expects,
  issuesOf,
  omittable,
  optional
} from "../../internal/Options.ts"
import { maxTimeout } from "../../internal/optionSchemas.ts"
import type {
  ContentSource,
  ContentSourceDefinition,
  SourceEnvironment
} from "../../services/ContentSource.ts"
import { type Delimiter, delimiters } from "./csvText.ts"
import type { Step } from "./Document.ts"
import type { EffectSchema, ImageConfig, MediaConfig, TableExpectation } from "./DocumentConfig.ts"
import { ExpectOptions } from "./expect/ExpectOptions.ts"
import { Links } from "./linkRecords.ts"
import { fileFields } from "./media/MediaOptions.ts"

/** A record before its check: only the author of the step knows its fields. */
// biome-ignore lint/suspicious/noExplicitAny: as `JSON.parse` has it, or each step would begin with checks.
type StepRecord = Readonly<Record<string, any>>

/**
 * Makes another document from a document, which is held in memory as a whole: from its records, or from the type that
 * the function declares, `unknown` or its own.
 *
 * @since 0.1.0
 * @category models
 */
export type RecordsStep = {
  // A method, so that a function may declare the type of its records.
  step(records: ReadonlyArray<StepRecord>, about: { readonly name: string }): unknown
}["step"]

/**
 * The options of all sources of documents, as a user writes them.
 *
 * @since 0.1.0
 * @category models
 */
export interface DocumentConfig {
  /** Name of the source, and of its folder in a version; unique among the sources. */
  readonly id: string

  /**
   * What must be in documents, by their names. A fetch that brings something else is rejected: the active
   * version stays. Default `{}`.
   */
  readonly expect?: Readonly<Record<string, TableExpectation<EffectSchema>>> | undefined

  /**
   * Functions that change a document before it is checked and saved, run in this order. Promises are
   * awaited. Default `[]`.
   */
  readonly steps?: ReadonlyArray<RecordsStep> | undefined

  /**
   * The records of other documents in the place of their ids, by fields and the documents that they link to:
   * `{ maker: "makers" }`. Default `{}`.
   */
  readonly links?: Readonly<Record<string, string>> | undefined

  /** Milliseconds until a response begins, and for every pause in it. Default `60000`. */
  readonly maxTimeout?: number | undefined

  /** The largest response in bytes. It is held in memory. Default `33554432` (32 MiB). */
  readonly maxBytes?: number | undefined

  /** Links in documents whose files are downloaded too. Default none. */
  readonly media?: MediaConfig<string | Redacted.Redacted> | undefined

  /** Smaller sizes of the pictures that documents show. Default none. */
  readonly images?: ImageConfig | undefined
}

const step = expects(
  Schema.declare((input): input is Step => Predicate.isFunction(input)),
  "a function that gets a document, and returns the document to save"
)

/** The key of a record. One declaration, so that a mistake is reported once and not for each member of a union. */
export const recordKey = Schema.transform(
  expects(
    Schema.declare((input): input is string | ReadonlyArray<string> => {
      const fields = [input].flat()
      return fields.length > 0 && fields.every((field) => Predicate.isString(field) && field.trim() !== "")
    }),
    'a field such as "id", or an array of fields'
  ),
  Schema.Array(Schema.String),
  { strict: true, decode: (fields) => [fields].flat(), encode: identity }
)

/** The separator of cells in CSV. */
export const delimiter = omittable(
  expects(
    Schema.declare((input): input is Delimiter => delimiters.some((delimiter) => delimiter === input)),
    '";", ",", "\\t" (a tab) or "|"'
  )
)

/**
 * The options of every source of documents, for `{ ...DocumentOptions.fields, … }`: `id`, `expect`, `steps`, `links`,
 * `maxTimeout` (milliseconds, default 60000), `maxBytes` (default 32 MiB), `media` and `images`.
 *
 * @since 0.1.0
 * @category schemas
 */
export const DocumentOptions = Schema.Struct({
  id: expects(Schema.String.pipe(Schema.filter(isPlainFileName)), 'one plain file name, such as "events"'),
  expect: optional(ExpectOptions, {}),
  steps: optional(expects(Schema.Array(step), "an array of functions"), []),
  links: optional(Links, {}),
  maxTimeout: maxTimeout(),
  maxBytes: optional(
    expects(Schema.Int.pipe(Schema.between(1, 512 * 1024 ** 2)), "an integer from 1 to 536870912 (bytes)"),
    32 * 1024 ** 2
  ),
  ...fileFields
})
export type DocumentOptions = typeof DocumentOptions.Type

/** The keys of the records of documents, by the names of the documents. */
export const DocumentKeys = expects(
  Schema.Record({ key: documentName, value: recordKey }),
  "an object with what identifies the records of each document"
)

/**
 * A source for a configuration. Its options are decoded at once, strictly: mistakes become `issues`, each with its
 * path, and then `make` is not called. `kind` is the name of the source in messages, as in "the Strapi source".
 *
 * @since 0.1.0
 * @category constructors
 */
export const define = <A, I>(
  kind: string,
  schema: Schema.Schema<A, I>,
  config: unknown,
  make: (options: A) => Effect.Effect<ContentSource, Error, SourceEnvironment | Scope.Scope>
): ContentSourceDefinition => {
  const id = idOf(config)
  const decoded = decodeOptions(
    id === "" ? `the options of ${kind}` : `the options of ${kind} "${id}"`,
    schema
  )(config)
  return { id, issues: issuesOf(decoded), make: Effect.flatMap(decoded, make) }
}
