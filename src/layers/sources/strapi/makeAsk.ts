/**
 * Requests to Strapi, with the token.
 */
import * as UrlParams from "@effect/platform/UrlParams"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Requests from "../documents/Requests.ts"
import { hideSecret } from "../hideSecret.ts"
import { refused, StrapiError, strange } from "./requestErrors.ts"
import type { Parameters } from "./requests.ts"
import { readRefusal } from "./responses.ts"
import type { StrapiOptions } from "./StrapiOptions.ts"

/** Gives the body of an answer, JSON. `path` is that of a type, or of the media library. */
export type Ask = (path: string, parameters: Parameters) => Effect.Effect<unknown, StrapiError>

export const makeAsk = ({
  maxBytes,
  maxTimeout,
  token,
  url
}: Pick<StrapiOptions, "maxBytes" | "maxTimeout" | "token" | "url">) =>
  Effect.map(Requests.make({ maxBytes, maxTimeout }), ({ getJson }): Ask => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${Redacted.value(token)}` }
    const withoutToken = token === undefined ? (text: string) => text : hideSecret(token)

    const failed = (path: string, { body = "", isTransient, message, status }: Requests.RequestFailed) => {
      if (status === undefined) {
        return new StrapiError({ detail: message, isTransient })
      }
      const refusal = readRefusal(Option.getOrUndefined(parseJson(withoutToken(body))))
      return refusal.name === "" && !isTransient
        ? strange(path, `HTTP ${status}, without an error of Strapi`)
        : refused(path, status, token !== undefined, refusal)
    }

    return (path, parameters) =>
      getJson(`${url}/api/${path}?${UrlParams.toString(parameters)}`, headers).pipe(
        Effect.mapBoth({ onFailure: (error) => failed(path, error), onSuccess: ({ json }) => json })
      )
  })

const parseJson = Schema.decodeOption(Schema.parseJson())
