/**
 * Who may send requests, where options of the transport say so. By default everybody may (specification, section 5).
 *
 * A decision looks at the head of a request only. It never throws, whatever stands there.
 */
import { createHash, timingSafeEqual } from "node:crypto"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { printableLine } from "../../internal/printable.ts"
import { type HostNotAllowed, refuseHost } from "../http/hosts.ts"
import type { HttpTransportOptions } from "./HttpTransportOptions.ts"

export class OriginNotAllowed extends Schema.TaggedError<OriginNotAllowed>()("vitrine/OriginNotAllowed", {
  /** None where a browser sent the request of a page without naming its origin. */
  origin: Schema.optional(Schema.String)
}) {
  override get message() {
    return this.origin === undefined
      ? 'Origin not allowed: pages must send requests with CORS, which name their origin, where "allowedOrigins" is set.'
      : `Origin not allowed: ${JSON.stringify(this.origin)} is not among the "allowedOrigins" of the HTTP transport.`
  }
}

export class TokenRequired extends Schema.TaggedError<TokenRequired>()("vitrine/TokenRequired", {}) {
  override get message() {
    return 'Token required: send "Authorization: Bearer TOKEN" with the "token" of the HTTP transport. GET /events takes "?token=TOKEN" as well.'
  }
}

export class JsonRequired extends Schema.TaggedError<JsonRequired>()("vitrine/JsonRequired", {}) {
  override get message() {
    return 'JSON required: send "Content-Type: application/json".'
  }
}

export type Refusal = HostNotAllowed | OriginNotAllowed | TokenRequired | JsonRequired

/** What a decision is made of. */
export interface RequestHead {
  /** By names in small letters. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly method: string
  readonly url: string
}

export type Options = Pick<HttpTransportOptions, "allowedHosts" | "allowedOrigins" | "requireJson" | "token">

export interface Access {
  /** Why a request is refused; none where it may go on. */
  readonly refuse: (request: RequestHead) => Option.Option<Refusal>

  /** What tells a browser whether the page that sent the request may read the response. */
  readonly corsHeaders: (request: RequestHead) => Readonly<Record<string, string>>

  /** The same for what is no request. */
  readonly corsHeadersOfMalformed: Readonly<Record<string, string>>

  /** The headers that a page may send. */
  readonly allowedHeaders: string
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
        return Option.some(
          new OriginNotAllowed(origin === undefined ? {} : { origin: printableLine(origin, maxShown) })
        )
      }
    }
    // A preflight has neither; the request that follows has.
    if (method === "OPTIONS") {
      return Option.none()
    }
    if (!hasToken(request)) {
      return Option.some(new TokenRequired())
    }
    return requireJson === true && method === "POST" && !isJson(headers["content-type"])
      ? Option.some(new JsonRequired())
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
    corsHeadersOfMalformed: allowedOrigins === undefined ? anyOrigin : otherOrigin,
    allowedHeaders: token === undefined ? "Content-Type" : "Content-Type, Authorization"
  }
}

/** How much of a header an error repeats. */
const maxShown = 100

/**
 * Browsers leave `Origin` out where a page does not ask to read the response, as with `<img>`, but say where the
 * page is from. Programs that are no browsers send neither.
 */
export const isOfForeignPage = ({ headers }: Pick<RequestHead, "headers">): boolean => {
  const site = headers["sec-fetch-site"]
  return site !== undefined && site !== "same-origin" && site !== "none"
}

export const isJson = (contentType: string | undefined): boolean =>
  contentType !== undefined && /^application\/json\s*(;|$)/i.test(contentType)

/** Compares digests, which have one length, in a time that does not depend on what they are. */
export const tokenCheck = (token: Redacted.Redacted) => {
  const expected = digest(Redacted.value(token))
  const isToken = (text: string) => timingSafeEqual(digest(text), expected)
  return ({ headers, method, url }: RequestHead): boolean => {
    const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1]
    if (bearer !== undefined) {
      return isToken(bearer)
    }
    const query = /^\/events\?([^#]*)/.exec(url)?.[1]
    const inQuery = method === "GET" && query !== undefined ? new URLSearchParams(query).get("token") : null
    return inQuery !== null && isToken(inQuery)
  }
}

const digest = (text: string): Buffer => createHash("sha256").update(text).digest()
