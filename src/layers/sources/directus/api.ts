/**
 * Asking Directus, and what to do about its refusals.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Cms from "../../documents/Cms.ts"
import type { DirectusOptions } from "./DirectusOptions.ts"
import { readRefusal } from "./responses.ts"

/** What is asked: texts as they are, lists with commas, objects as JSON. */
export type Parameters = Readonly<Record<string, unknown>>

/** `path` is that of a collection, `items/articles`, or of a system collection. */
export type Ask = (path: string, parameters?: Parameters) => Effect.Effect<Cms.JsonAnswer, Cms.CmsError>

export const makeAsk = (options: DirectusOptions) =>
  Effect.map(
    Cms.makeAsk(directus, options),
    (ask): Ask =>
      (path, parameters = {}) =>
        ask(path.replace("items/", ""), path, textsOf(parameters))
  )

const textsOf = (parameters: Parameters) =>
  Object.entries(parameters).flatMap(
    ([name, value]): ReadonlyArray<[string, string]> =>
      value === undefined
        ? []
        : [[name, Predicate.isReadonlyRecord(value) ? JSON.stringify(value) : String(value)]]
  )

export const directus: Cms.Vendor = {
  name: "Directus",
  address: "the address of the server",
  option: "collections",
  filter: "filter",
  items: "items",
  readRefusal,
  advice: (collection, status, hasToken) => {
    switch (status) {
      case 400:
        return `Directus does not understand what is asked of ${collection}. Check "collections.${collection}"`
      case 401:
        return 'Directus does not accept the token. Check "token": in Directus, User Directory, make a new one for the user, whose status is to be "Active", and save'
      case 403:
        return hasToken
          ? `The token may not read ${collection}, or it does not have what "collections.${collection}" names: in Directus, Settings, Access Policies, allow "read" of it, of what its relations lead to, and of "Directus Files"`
          : `Without a token, ${collection} may not be read, or it does not have what "collections.${collection}" names: set "token", or in Directus, Settings, Access Policies, Public, allow "read" of it`
      default:
        return undefined
    }
  }
}
