/**
 * The options of a source of Sanity.
 */
import * as Array from "effect/Array"
import * as Predicate from "effect/Predicate"
import type * as Record from "effect/Record"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { documentName, expects, expectsSecret, omittable, optional } from "../../../internal/Options.ts"
import { isHttpBase } from "../../../internal/optionSchemas.ts"
import { token } from "../../documents/cms.ts"
import { type DocumentConfig, DocumentOptions, recordKey } from "../../documents/DocumentOptions.ts"
import { fileFieldsOfReader, type MediaConfig } from "../../documents/media/MediaOptions.ts"

/**
 * A query in GROQ, whose result is one document.
 *
 * @since 0.1.0
 * @category models
 */
export interface SanityQuery {
  /** Such as `*[_type == "event"] | order(_id)`. */
  readonly groq: string
  /** The values of `$name` in the query, as JSON. */
  readonly params?: Readonly<Record<string, unknown>> | undefined
  /** The field that identifies records, or several fields, as paths with dots. Default `_id`. */
  readonly key?: string | ReadonlyArray<string> | undefined
}

/**
 * The options as a user writes them.
 *
 * @since 0.1.0
 * @category models
 */
export interface SanitySourceConfig extends Omit<DocumentConfig, "media"> {
  /** Id of the project, as manage.sanity.io shows it. */
  readonly projectId: string

  /** Name of the dataset. */
  readonly dataset: string

  /**
   * A token that may read the dataset, for private datasets and drafts. It is sent to Sanity only, and
   * never shown. Default none.
   */
  readonly token?: string | Redacted.Redacted | undefined

  /** GROQ by the names of documents, or `{ groq, params, key }`. */
  readonly queries: Readonly<Record<string, string | SanityQuery>>

  /**
   * `"drafts"` shows drafts over what is published, `"raw"` all documents by their own ids; an array
   * names releases. Default `"published"`.
   */
  readonly perspective?: "published" | "drafts" | "raw" | ReadonlyArray<string> | undefined

  /** The version of the API, a date. Default `"2025-02-19"`. */
  readonly apiVersion?: string | undefined

  /**
   * Asks Sanity's cache, which has no limit of requests but may be behind for a moment. All queries are
   * asked at every tick, and live events are not listened to. Default `false`.
   */
  readonly useCdn?: boolean | undefined

  /**
   * Listens to live events, so that changes are fetched at once. Without it they are found at the next
   * tick. Default `true`.
   */
  readonly live?: boolean | undefined

  /**
   * Further links whose files are downloaded, beside the pictures and files of Sanity; `false` downloads
   * none. Default none.
   */
  readonly media?: MediaConfig | false | undefined

  /** URL of the API, for a proxy or a test server. Default `"https://<projectId>.api.sanity.io"`. */
  readonly endpointUrl?: string | undefined
}

const matching = (pattern: RegExp, what: string) => expects(Schema.String.pipe(Schema.pattern(pattern)), what)

const isText = (input: unknown): input is string => Predicate.isString(input) && input.trim() !== ""

const groq = expects(Schema.String.pipe(Schema.filter(isText)), 'GROQ, such as *[_type == "event"]')

const LongQuery = Schema.Struct({
  groq,
  params: optional(
    expects(
      Schema.Record({
        key: matching(/^[A-Za-z_]\w*$/, "the name of a parameter, without its $"),
        value: Schema.Unknown
      }),
      "an object with the values of parameters"
    ),
    {}
  ),
  key: omittable(recordKey)
})

const query = Schema.Union(groq, LongQuery).annotations({
  message: () => ({
    message:
      'expected GROQ, such as *[_type == "event"], or an object with "groq", and optionally "params" and "key"',
    override: true
  })
})

const perspective = Schema.declare(
  (input): input is "published" | "drafts" | "raw" | ReadonlyArray<string> =>
    input === "published" ||
    input === "drafts" ||
    input === "raw" ||
    (Array.isArray(input) &&
      input.length > 0 &&
      input.every((name) => isText(name) && /^[\w.-]+$/.test(name)))
)

const AnyOptions = Schema.Struct({
  ...DocumentOptions.fields,
  ...fileFieldsOfReader,
  projectId: matching(/^[a-z0-9][a-z0-9-]{0,62}$/, 'the id of a project, such as "zp7mbokg"'),
  dataset: matching(/^~?[a-z0-9][a-z0-9_-]{0,63}$/, 'the name of a dataset, such as "production"'),
  token: token("a token"),
  queries: expects(
    Schema.Record({ key: documentName, value: query }),
    "an object with GROQ by the names of documents"
  ),
  perspective: optional(
    expects(perspective, '"published", "drafts", "raw", or an array with names of releases'),
    "published"
  ),
  apiVersion: optional(
    matching(/^\d{4}-\d\d-\d\d$/, 'the date of a version of the API, such as "2025-02-19"'),
    "2025-02-19"
  ),
  useCdn: optional(expects(Schema.Boolean, "true or false"), false),
  live: optional(expects(Schema.Boolean, "true or false"), true),
  endpointUrl: omittable(
    expectsSecret(
      Schema.String.pipe(Schema.filter(isHttpBase)),
      "an http or https URL without credentials, query or fragment"
    )
  )
})

/** The options, with the rules for options that depend on each other. */
export const SanityOptions = AnyOptions.pipe(
  Schema.filter(({ perspective, queries, token, useCdn }) => {
    const isStored = perspective === "published" || perspective === "raw"
    return [
      ...(Object.keys(queries).length > 0
        ? []
        : [
            {
              path: ["queries"],
              message: "expected at least one, such as { events: '*[_type == \"event\"]' }"
            }
          ]),
      ...(isStored || token !== undefined
        ? []
        : [{ path: ["token"], message: "is required to read unpublished content" }]),
      ...(isStored || !useCdn
        ? []
        : [{ path: ["useCdn"], message: "drafts and releases are not in the cache of Sanity: leave it out" }])
    ]
  })
)
export type SanityOptions = typeof SanityOptions.Type
