/**
 * Requests to Directus, with the token.
 */
import * as UrlParams from "@effect/platform/UrlParams"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Record from "effect/Record"
import * as Redacted from "effect/Redacted"
import { makeRequests } from "../../documents/answers.ts"
import { redirectAdvice } from "../../documents/refusedRequest.ts"
import type { RequestFailed } from "../../httpClient/Requests.ts"
import type { DirectusOptions } from "./DirectusOptions.ts"
import { type DirectusError, refused, strange, unreachable } from "./requestErrors.ts"
import { readRefusal } from "./responses.ts"

/** What is asked: texts as they are, lists with commas, objects as JSON. */
export type Parameters = Readonly<Record<string, unknown>>

/** Gives the body of an answer, JSON. `path` is that of a collection, `items/articles`, or of a system collection. */
export type Ask = (path: string, parameters?: Parameters) => Effect.Effect<unknown, DirectusError>

type Headers = Readonly<Record<string, Redacted.Redacted>>

/** What the server is sent so that it knows who asks. */
export const credentials = ({ token }: Pick<DirectusOptions, "token">): Headers =>
  token === undefined ? {} : { authorization: Redacted.make(`Bearer ${Redacted.value(token)}`) }

export const makeAsk = (
  { token, url, ...limits }: Pick<DirectusOptions, "maxBytes" | "maxTimeout" | "token" | "url">,
  credentials: Headers
) =>
  Effect.map(makeRequests({ ...limits, urls: [url] }), ({ getJson }): Ask => {
    const headers = Record.map(credentials, Redacted.value)

    const failed = (path: string, error: RequestFailed) => {
      const { isTransient, message, status } = error
      const advice = token === undefined ? undefined : redirectAdvice(url, "token", error)
      if (advice !== undefined || status === undefined) {
        return unreachable(advice ?? message, isTransient)
      }
      const name = path.replace("items/", "")
      const refusal = readRefusal(error.said)
      return (refusal.code === "" || refusal.code === "ROUTE_NOT_FOUND") && !isTransient
        ? strange(name, `HTTP ${status}, without an item or an error of it`)
        : refused(name, status, token !== undefined, refusal)
    }

    return (path, parameters = {}) =>
      getJson(`${url}/${path}?${UrlParams.toString(textsOf(parameters))}`, headers).pipe(
        Effect.mapBoth({ onFailure: (error) => failed(path, error), onSuccess: ({ json }) => json })
      )
  })

const textsOf = (parameters: Parameters) =>
  Object.entries(parameters).flatMap(
    ([name, value]): ReadonlyArray<[string, string]> =>
      value === undefined
        ? []
        : [[name, Predicate.isReadonlyRecord(value) ? JSON.stringify(value) : String(value)]]
  )
