/**
 * Options that are secrets: text or `Redacted`, and `Redacted` once decoded.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { expectsSecret } from "./Options.ts"

/** The text of a secret; `None` if it was wiped, or made with another copy of Effect. */
const textOf = Option.liftThrowable((input: unknown) =>
  Redacted.isRedacted(input) ? Redacted.value(input) : input
)

/** Declared as one, so that a mistake is reported once and not for each member of a union. */
const readable = (valid: (text: string) => boolean) =>
  Schema.declare((input): input is string | Redacted.Redacted =>
    Option.exists(textOf(input), (text) => Predicate.isString(text) && valid(text))
  )

/** A secret that is valid; the message of a mistake says what it expects, and shows nothing of it. */
export const secret = (valid: (text: string) => boolean, what: string) =>
  Schema.transform(expectsSecret(readable(valid), what), Schema.RedactedFromSelf(Schema.String), {
    strict: true,
    decode: (secret) => (Redacted.isRedacted(secret) ? secret : Redacted.make(secret)),
    encode: (secret) => secret
  })
