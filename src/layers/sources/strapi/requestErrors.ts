/**
 * What goes wrong with a request to Strapi, and what to do about it.
 */
import * as Schema from "effect/Schema"
import { excerpt } from "../../../internal/printable.ts"
import { passes } from "../../httpClient/HttpFailure.ts"
import type { Refusal } from "./responses.ts"

/** A type, or the media library, cannot be read. */
export class StrapiError extends Schema.TaggedError<StrapiError>()("vitrine/StrapiError", {
  detail: Schema.String,
  /** Of the answer, if it was a refusal. */
  status: Schema.optional(Schema.Number),
  /** What a `ValidationError` is about. */
  key: Schema.optional(Schema.String),
  /** Whether the same may succeed later without anybody doing something. */
  isTransient: Schema.Boolean
}) {
  override get message() {
    return this.detail
  }
}

const lasting = (detail: string) => new StrapiError({ detail, isTransient: false })

export const strange = (type: string, detail: string) =>
  lasting(
    `What "url" gives for ${type} is no answer of Strapi 5: ${detail}. Check "url", the address of the server without "/api"`
  )

export const tooMany = (type: string, most: number) =>
  lasting(`${type} has more than ${most} entries. Take fewer by "types.${type}.filters"`)

/** Of an answer that is a refusal. */
export const refused = (type: string, status: number, hasToken: boolean, refusal: Refusal) => {
  const words = [refusal.name, refusal.message].filter((part) => part !== "").join(": ")
  return new StrapiError({
    detail: `${adviceOf(type, status, hasToken, refusal)} (HTTP ${status}${words === "" ? "" : `, ${excerpt(words)}`})`,
    status,
    key: excerpt(refusal.key),
    isTransient: passes(status)
  })
}

const adviceOf = (type: string, status: number, hasToken: boolean, { key, name, param }: Refusal): string => {
  switch (status) {
    case 400:
      return name === "ValidationError" && key !== ""
        ? `"${excerpt(key)}" in "${excerpt(param)}" is nothing that ${type} has, or nothing that the token may read. Check "types.${type}"`
        : `Strapi does not understand what is asked of ${type}. Check "types.${type}"`
    case 401:
      return hasToken
        ? 'Strapi does not accept the token. Check "token": in Strapi, Settings, API Tokens shows whether it has expired'
        : `Strapi gives ${type} with a token only. Set "token" to one of Settings, API Tokens`
    case 403:
      return hasToken
        ? `The token may not read ${type}: in Strapi, Settings, API Tokens, allow "find" of it, or use a token that is read-only`
        : `Without a token, ${type} may not be read: set "token", or in Strapi, Settings, Users & Permissions, Roles, Public, allow "find" of it`
    case 404:
      return `Strapi has no ${type}. A collection goes by its plural ("articles"), a single type by its singular ("homepage"), as the Content-Type Builder names them in lower case; of a single type something has to be published`
  }
  return passes(status) ? "Strapi fails" : `Strapi does not give ${type}`
}
