/**
 * What goes wrong with a request to Directus, and what to do about it.
 */
import * as Schema from "effect/Schema"
import { excerpt } from "../../../internal/printable.ts"
import { passes } from "../../httpClient/HttpFailure.ts"
import type { Refusal } from "./responses.ts"

/** A collection cannot be read. */
export class DirectusError extends Schema.TaggedError<DirectusError>()("vitrine/DirectusError", {
  detail: Schema.String,
  /** Of the answer, if it was a refusal. */
  status: Schema.optional(Schema.Number),
  /** Whether the same may succeed later without anybody doing something. */
  isTransient: Schema.Boolean
}) {
  override get message() {
    return this.detail
  }
}

const lasting = (detail: string) => new DirectusError({ detail, isTransient: false })

export const strange = (collection: string, detail: string) =>
  lasting(
    `What "url" gives for ${collection} is no answer of Directus: ${detail}. Check "url", the address of the server`
  )

/** There is no answer at all. */
export const unreachable = (detail: string, isTransient: boolean) =>
  new DirectusError({ detail, isTransient })

export const withoutKey = (collection: string, key: string) =>
  lasting(`An item of ${collection} has no "${key}". Set "collections.${collection}.key" to its primary key`)

export const tooMany = (collection: string, most: number) =>
  lasting(`${collection} has more than ${most} items. Take fewer by "collections.${collection}.filter"`)

/** Of an answer that is a refusal. */
export const refused = (collection: string, status: number, hasToken: boolean, refusal: Refusal) => {
  const words = [refusal.code, refusal.message].filter((part) => part !== "").join(": ")
  return new DirectusError({
    detail: `${adviceOf(collection, status, hasToken)} (HTTP ${status}${words === "" ? "" : `, ${excerpt(words)}`})`,
    status,
    isTransient: passes(status)
  })
}

const adviceOf = (collection: string, status: number, hasToken: boolean): string => {
  switch (status) {
    case 400:
      return `Directus does not understand what is asked of ${collection}. Check "collections.${collection}"`
    case 401:
      return 'Directus does not accept the token. Check "token": in Directus, User Directory, make a new one for the user, whose status is to be "Active", and save'
    case 403:
      return hasToken
        ? `The token may not read ${collection}, or it does not have what "collections.${collection}" names: in Directus, Settings, Access Policies, allow "read" of it, of what its relations lead to, and of "Directus Files"`
        : `Without a token, ${collection} may not be read, or it does not have what "collections.${collection}" names: set "token", or in Directus, Settings, Access Policies, Public, allow "read" of it`
  }
  return passes(status) ? "Directus fails" : `Directus does not give ${collection}`
}
