/**
 * Requests to Strapi, with the token.
 */
import * as UrlParams from "@effect/platform/UrlParams"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { makeRequests } from "../../documents/answers.ts"
import { redirectAdvice } from "../../documents/refusedRequest.ts"
import type { RequestFailed } from "../../httpClient/Requests.ts"
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
  Effect.map(makeRequests({ maxBytes, maxTimeout, urls: [url] }), ({ getJson }): Ask => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${Redacted.value(token)}` }

    const failed = (path: string, error: RequestFailed) => {
      const { isTransient, message, status } = error
      const advice = token === undefined ? undefined : redirectAdvice(url, "token", error)
      if (advice !== undefined || status === undefined) {
        return new StrapiError({ detail: advice ?? message, isTransient })
      }
      const refusal = readRefusal(error.said)
      return refusal.name === "" && !isTransient
        ? strange(path, `HTTP ${status}, without an error of Strapi`)
        : refused(path, status, token !== undefined, refusal)
    }

    return (path, parameters) =>
      getJson(`${url}/api/${path}?${UrlParams.toString(parameters)}`, headers).pipe(
        Effect.mapBoth({ onFailure: (error) => failed(path, error), onSuccess: ({ json }) => json })
      )
  })
