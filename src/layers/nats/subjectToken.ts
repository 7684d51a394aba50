/**
 * Any string as one token of a subject, and back. Letters, digits and `:_-` stay as they are, so that
 * `content:version:promoted` can be read in the tools of NATS.
 */
import * as Option from "effect/Option"

/** The server's limit for a whole command line is 4,096 bytes. */
const maxLength = 1024

const empty = "="

/** None where it would be longer than the server accepts. */
export const encode = (text: string): Option.Option<string> => {
  const token = text === "" ? empty : text.replace(/[^\w:-]/g, escapeUnit)
  return token.length > maxLength ? Option.none() : Option.some(token)
}

/** A token that is not from `encode` is given as it is. */
export const decode = (token: string): string =>
  token === empty
    ? ""
    : token.replace(/=([0-9a-f]{4})/g, (_, digits: string) =>
        String.fromCharCode(Number.parseInt(digits, 16))
      )

/** UTF-16 code units, not characters: half of a surrogate pair has to come back as well. */
const escapeUnit = (unit: string): string => `=${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
