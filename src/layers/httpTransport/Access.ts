/**
 * Decides who may send requests, by the options of the transport. By default everybody may (docs/wire.md, section 5).
 *
 * A check reads only the head of a request. It never throws.
 */
import type { HttpServerResponse } from "@effect/platform/HttpServerResponse"
import * as Option from "effect/Option"
import { preflightFor } from "../http/Application.ts"
import { jsonRequired, originNotAllowed, tokenRequired } from "../http/errors.ts"
import {
  isJson,
  isOfForeignPage,
  printableHeader,
  type Refusal,
  type RequestHead,
  refuseHost,
  tokenCheck
} from "../http/RequestHead.ts"
import type { HttpTransportOptions } from "./HttpTransportOptions.ts"

export type Options = Pick<HttpTransportOptions, "allowedHosts" | "allowedOrigins" | "requireJson" | "token">

export interface Access {
  /** Why a request is refused; `None` if it is not. */
  readonly refuse: (request: RequestHead) => Option.Option<Refusal>

  /** The headers that tell a browser whether the page may read the response. */
  readonly corsHeaders: (request: Pick<RequestHead, "headers">) => Readonly<Record<string, string>>

  /** The answer to the CORS preflight of a page. */
  readonly preflight: HttpServerResponse
}

const anyOrigin = { "access-control-allow-origin": "*" }
const otherOrigin = { vary: "Origin" }

export const make = (options: Options): Access => {
  const { allowedHosts, allowedOrigins, requireJson, token } = options
  const hasToken = token === undefined ? () => true : tokenCheck(token)

  const refuse = (request: RequestHead): Option.Option<Refusal> => {
    const { headers, method } = request
    const foreign = refuseHost(allowedHosts, headers.host, "the HTTP transport")
    if (Option.isSome(foreign)) {
      return foreign
    }
    if (allowedOrigins !== undefined) {
      const { origin } = headers
      if (origin === undefined ? isOfForeignPage(request) : !allowedOrigins.includes(origin)) {
        return Option.some(originNotAllowed(reasonOf(origin)))
      }
    }
    // A preflight has neither a token nor a body; the request after it is checked.
    if (method === "OPTIONS") {
      return Option.none()
    }
    if (!hasToken(request)) {
      return Option.some(noToken)
    }
    return requireJson === true && method === "POST" && !isJson(headers["content-type"])
      ? Option.some(jsonRequired)
      : Option.none()
  }

  return {
    refuse,
    corsHeaders:
      allowedOrigins === undefined
        ? () => anyOrigin
        : ({ headers: { origin } }) =>
            origin !== undefined && allowedOrigins.includes(origin)
              ? { ...otherOrigin, "access-control-allow-origin": origin }
              : otherOrigin,
    preflight: preflightFor(
      "GET, POST, OPTIONS",
      token === undefined ? "Content-Type" : "Content-Type, Authorization"
    )
  }
}

/** Browsers omit `Origin` in requests without CORS. */
const reasonOf = (origin: string | undefined) =>
  origin === undefined
    ? 'pages must send requests with CORS, which name their origin, where "allowedOrigins" is set.'
    : `${JSON.stringify(printableHeader(origin))} is not among the "allowedOrigins" of the HTTP transport.`

const noToken = tokenRequired(
  'Token required: send "Authorization: Bearer TOKEN" with the "token" of the HTTP transport. GET /events takes "?token=TOKEN" as well.'
)
