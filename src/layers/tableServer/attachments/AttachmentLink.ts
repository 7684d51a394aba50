/**
 * Links to attachments: signed, good for a while, and never the same twice.
 *
 * A link carries all there is to know, so that the server remembers nothing of links.
 */
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { type ApiError, linkExpired, linkInvalid } from "../ApiError.ts"

const Link = Schema.Struct({
  /** The path of the file in the folder of tables. */
  file: Schema.String,
  /** The id that the attachment had when the link was made. */
  id: Schema.String,
  /** Milliseconds since 1970. */
  expiresAt: Schema.Number
})
export type Link = typeof Link.Type

export interface Signer {
  /** The path of a new link, two segments without an extension. */
  readonly sign: (link: Link) => string
  /** Reads a link of this signer that is still good. */
  readonly verify: (link: string, signature: string, now: number) => Either.Either<Link, ApiError>
}

export const makeSigner = (): Signer => {
  const secret = randomBytes(32)
  let links = 0
  const signatureOf = (text: string) => createHmac("sha256", secret).update(text).digest("base64url")

  return {
    sign: (link) => {
      links += 1
      const text = Buffer.from(JSON.stringify({ ...link, serial: links })).toString("base64url")
      return `${text}/${signatureOf(text)}`
    },
    verify: (text, signature, now) =>
      isEqual(signature, signatureOf(text))
        ? Schema.decodeUnknownEither(LinkText)(text).pipe(
            Either.mapLeft(() => linkInvalid),
            Either.filterOrLeft(
              ({ expiresAt }) => now < expiresAt,
              () => linkExpired
            )
          )
        : Either.left(linkInvalid)
  }
}

const LinkText = Schema.compose(Schema.StringFromBase64Url, Schema.parseJson(Link))

const isEqual = (self: string, that: string): boolean => {
  const [ours, theirs] = [Buffer.from(self), Buffer.from(that)]
  return ours.length === theirs.length && timingSafeEqual(ours, theirs)
}
