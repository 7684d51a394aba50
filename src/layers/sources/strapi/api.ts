/**
 * Asking Strapi, and what to do about its refusals.
 */
import * as Effect from "effect/Effect"
import { excerpt } from "../../../internal/printable.ts"
import * as Cms from "../../documents/Cms.ts"
import type { Parameters } from "./requests.ts"
import { readRefusal } from "./responses.ts"
import type { StrapiOptions } from "./StrapiOptions.ts"

/** `name` is that of a type, or the path of the media library. */
export type Ask = (name: string, parameters: Parameters) => Effect.Effect<Cms.JsonAnswer, Cms.CmsError>

export const makeAsk = (options: StrapiOptions) =>
  Effect.map(
    Cms.makeAsk(strapi, options),
    (ask): Ask =>
      (name, parameters) =>
        ask(name, `api/${name}`, parameters)
  )

export const strapi: Cms.Vendor = {
  name: "Strapi",
  address: 'the address of a Strapi 5 without "/api"',
  option: "types",
  filter: "filters",
  items: "entries",
  readRefusal,
  advice: (type, status, hasToken, { key = "", name, param = "" }) => {
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
      default:
        return undefined
    }
  }
}
