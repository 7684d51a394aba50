/**
 * Where problems are posted to.
 */
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { expectsSecret, optional } from "../../internal/Options.ts"
import { type DurationConfig, duration, secret } from "../../internal/optionSchemas.ts"

const isHttpUrl = (text: string): boolean => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)

/** The address of a hook is often a secret by itself. */
const url = secret(isHttpUrl, 'an http or https URL, such as "https://chat.example/hooks/…"')

const headerValue = secret(
  (text) => /^[\x20-\x7e]+$/.test(text),
  "a header's value: printable ASCII characters"
)

const headers = Schema.Record({
  // A wrong name is an unknown key, whose message says what the known ones are.
  key: Schema.String.pipe(
    Schema.pattern(/^[\w-]+$/, { description: 'names of headers, such as "Authorization"' })
  ),
  value: headerValue
})

/** Where problems are posted to. */
export interface AlertConfig {
  /** Takes a `POST` with JSON for each problem that begins or ends, or for several at once. */
  readonly url: string | Redacted.Redacted

  /** Sent with each of them, `Authorization` for example. Default none. */
  readonly headers?: Readonly<Record<string, string | Redacted.Redacted>> | undefined

  /** How long a problem lasts before it is posted. Default 2 minutes. */
  readonly after?: DurationConfig | undefined
}

export const AlertOptions = Schema.Struct({
  url,
  headers: optional(expectsSecret(headers, "an object with a text for each header"), {}),
  after: optional(duration, "2 minutes")
})
export type AlertOptions = typeof AlertOptions.Type
