/**
 * The options of the hosted table API, of a client and of a source with that client, and what each must be;
 * `AirtableConfig.ts` says what they are for.
 */
import * as Either from "effect/Either"
import { flow } from "effect/Function"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { decodeOptions, expects, expectsSecret, omittable, optional } from "../../../internal/Options.ts"
import { isHttpBase, secret } from "../../../internal/optionSchemas.ts"
import type * as Config from "./AirtableConfig.ts"
import { decodeSource, isPathSegment, TableSourceOptions, text, ViewName } from "./TableSourceOptions.ts"

/** Without what has no place in it, and without a slash at its end. */
const endpoint = (url: string): string => url.replace(/\/+$/, "")

const apiKey = secret(
  (key) => /^[\x21-\x7e]+$/.test(key),
  "the API key: printable ASCII characters without spaces (is the environment variable set?)"
)

/** Where the base is, how to get in, and how long one request may take. */
export const AirtableClientOptions = Schema.Struct({
  baseId: expects(text(isPathSegment), 'the identifier of a base, such as "appAbCdEfGhIjKlMn"'),
  apiKey: Schema.propertySignature(apiKey).annotations({
    missingMessage: () => "is required (is the environment variable set?)"
  }),
  endpointUrl: optional(
    expectsSecret(
      text(isHttpBase),
      'an http or https URL without credentials, query or fragment, such as "https://api.airtable.com"'
    ),
    "https://api.airtable.com"
  ),
  changes: omittable(expects(Schema.Literal("webhook"), '"webhook"')),
  maxTimeout: TableSourceOptions.fields.maxTimeout
})
export type AirtableClientOptions = typeof AirtableClientOptions.Type

/** The options as a user writes them. */
export type AirtableClientConfig = Config.AirtableClientConfig<string | Redacted.Redacted>

/** Options of a source, without those about the files of its documents. */
export const AirtableTableOptions = Schema.Struct({
  ...TableSourceOptions.fields,
  ...AirtableClientOptions.fields,
  defaultView: optional(ViewName, "Grid view")
})

/** Options of a source without a change feed. */
export const PlainSourceOptions = AirtableTableOptions.omit("changes", "wholeEvery")

/** Without a slash at the end of `endpointUrl`. */
export const withEndpoint = <A extends Pick<AirtableClientOptions, "endpointUrl">>(options: A): A => ({
  ...options,
  endpointUrl: endpoint(options.endpointUrl)
})

/** Decodes the options; `endpointUrl` comes out without a slash at its end. */
export const decodeClient = flow(
  decodeOptions("the options of the table client", AirtableClientOptions),
  Either.map(withEndpoint)
)

/** As `decodeClient`, of a source without a change feed. */
export const decodePlain = flow(decodeSource(PlainSourceOptions), Either.map(withEndpoint))
