/**
 * The address that problems are posted to. Every command of the command line reads these options, and none but `start`
 * loads what posts.
 */
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type { DurationConfig } from "../../internal/DurationConfig.ts"
import { expectsSecret, optional } from "../../internal/Options.ts"
import { duration, isHttpUrl, secret } from "../../internal/optionSchemas.ts"

/** The address of a hook is often a secret itself. */
const url = secret(
  isHttpUrl,
  'an http or https URL, such as "https://chat.example/hooks/…", without credentials (those go into "headers")'
)

const headerValue = secret(
  (text) => /^[\x20-\x7e]+$/.test(text),
  "a header's value: printable ASCII characters"
)

const headers = Schema.Record({
  // A wrong name counts as an unknown key; that message lists the valid names.
  key: Schema.String.pipe(
    Schema.pattern(/^[\w-]+$/, { description: 'names of headers, such as "Authorization"' })
  ),
  value: headerValue
})

/** The address that problems are posted to. */
export interface AlertConfig {
  /** Receives a `POST` with JSON when problems begin, change or end. */
  readonly url: string | Redacted.Redacted

  /** Headers of each request, for example `Authorization`. Default none. */
  readonly headers?: Readonly<Record<string, string | Redacted.Redacted>> | undefined

  /** How long a change must last before it is posted. Default 2 minutes. */
  readonly after?: DurationConfig | undefined
}

export const AlertOptions = Schema.Struct({
  url,
  headers: optional(expectsSecret(headers, "an object with a text for each header"), {}),
  after: optional(duration, "2 minutes")
})
export type AlertOptions = typeof AlertOptions.Type
