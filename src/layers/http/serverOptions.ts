/**
 * Options that servers have in common.
 */
import * as Schema from "effect/Schema"
import { expects, omittable, optional } from "../../internal/Options.ts"
import { envFileHint, secret } from "../../internal/optionSchemas.ts"

export const integer = (minimum: number, maximum: number) =>
  expects(Schema.Int.pipe(Schema.between(minimum, maximum)), `an integer from ${minimum} to ${maximum}`)

/** An optional list; each entry is checked separately. */
export const list = (valid: (entry: string) => boolean, what: string) =>
  omittable(
    expects(
      Schema.Array(expects(Schema.String.pipe(Schema.filter(valid)), what)),
      `an array, each entry ${what}`
    )
  )

export const port = (defaultPort: number) => optional(integer(0, 65_535), defaultPort)

/** Accepts an IPv6 address with the brackets of a URL, too. */
export const host = optional(
  Schema.transform(expects(Schema.NonEmptyString, "the name or address of an interface"), Schema.String, {
    strict: true,
    decode: (host) => host.replace(/^\[(.+)\]$/, "$1"),
    encode: (host) => host
  }),
  "127.0.0.1"
)

const isHostName = (text: string): boolean => /^(\[[\da-f:.]+\]|[a-z\d._-]+)$/.test(text)

export const allowedHosts = list(
  isHostName,
  'a host name or an address in small letters without a port, such as "localhost" or "[::1]"'
)

/** Characters that an `Authorization` header may contain, and enough of them to prevent guessing. */
const isToken = (text: string): boolean => /^[\w.~+/-]{16,}=*$/.test(text)

export const token = secret(
  isToken,
  `a token: at least 16 of the characters A-Z a-z 0-9 - . _ ~ + / (is it set? ${envFileHint})`
)
