/**
 * The hub that a player reports to.
 */
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { expectsSecret } from "../../internal/Options.ts"
import { envFileHint, isHttpBase, secret } from "../../internal/optionSchemas.ts"

/** A wrong value is not displayed: it may have a password. */
const to = Schema.transform(
  expectsSecret(
    Schema.String.pipe(Schema.filter(isHttpBase)),
    'the address of the content server of a hub, an http or https URL without credentials, query or fragment, such as "http://hub:8730"'
  ),
  Schema.String,
  { strict: true, decode: (text) => text.replace(/\/*$/, "/"), encode: (address) => address }
)

/** The hub that a player reports to, and its token. */
export interface ReportConfig {
  /** The address of the hub's content server. It may differ from the address that versions are copied from. */
  readonly to: string

  /** The token of `reports` at the hub. */
  readonly token: string | Redacted.Redacted
}

export const ReportOptions = expectsSecret(
  Schema.Struct({
    /** With a slash at the end. */
    to,
    token: secret(
      (text) => /^[\x21-\x7e]+$/.test(text),
      `the token of "reports" at the hub: printable ASCII characters without spaces (is it set? ${envFileHint})`
    )
  }),
  "an object { to, token }"
)
export type ReportOptions = typeof ReportOptions.Type
