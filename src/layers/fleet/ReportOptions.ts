/**
 * Where a player reports to.
 */
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { expectsSecret } from "../../internal/Options.ts"
import { envFileHint, isHttpBase, secret } from "../../internal/optionSchemas.ts"

/** Not shown where it is wrong: it may have a password. */
const to = Schema.transform(
  expectsSecret(
    Schema.String.pipe(Schema.filter(isHttpBase)),
    'the address of the content server of a hub, an http or https URL without credentials, query or fragment, such as "http://hub:8730"'
  ),
  Schema.String,
  { strict: true, decode: (text) => text.replace(/\/*$/, "/"), encode: (address) => address }
)

/** Where a player reports to, and with what. */
export interface ReportConfig {
  /** The address of the content server of a hub, whatever is copied from where. */
  readonly to: string

  /** That of the hub's `reports`. */
  readonly token: string | Redacted.Redacted
}

export const ReportOptions = expectsSecret(
  Schema.Struct({
    /** It ends with a slash. */
    to,
    token: secret(
      (text) => /^[\x21-\x7e]+$/.test(text),
      `the token of "reports" at the hub: printable ASCII characters without spaces (is it set? ${envFileHint})`
    )
  }),
  "an object { to, token }"
)
export type ReportOptions = typeof ReportOptions.Type
