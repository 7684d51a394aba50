/**
 * The head of a request: its target, and the checks that decide who may send it, by the `Host` header, the origin, the token
 * and the type of the body. They never throw.
 */
import { createHash, timingSafeEqual } from "node:crypto"
import type { IncomingMessage } from "node:http"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { printableLine } from "../../internal/printable.ts"
import { HostNotAllowed, type JsonRequired, type OriginNotAllowed, type TokenRequired } from "./errors.ts"

/** Why a request is refused. */
export type Refusal = HostNotAllowed | JsonRequired | OriginNotAllowed | TokenRequired

/** The head of a request, which the checks read. */
export interface RequestHead {
  /** Keys are header names in small letters. */
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly method: string
  readonly url: string
}

/** A header for errors and the status: at most 100 printable characters on one line, because strangers can send any text. */
export const printableHeader = (header: string): string => printableLine(header, 100).replace(/\p{Cf}/gu, "�")

/** Why a request with this `Host` header is refused; `None` if it is not. */
export const refuseHost = (
  allowedHosts: ReadonlyArray<string> | undefined,
  header: string | undefined,
  server: string
): Option.Option<HostNotAllowed> => {
  const host = header ?? ""
  return allowedHosts === undefined || allowedHosts.includes(hostName(host))
    ? Option.none()
    : Option.some(
        new HostNotAllowed({
          message: `Host not allowed: ${JSON.stringify(printableHeader(host))} is not among the "allowedHosts" of ${server}.`
        })
      )
}

/** A `Host` header without its port. */
export const hostName = (host: string): string => host.replace(/:\d*$/, "").toLowerCase()

/** The name or address of this machine in the URL that the client used; `undefined` if the header is not valid. */
export const hostnameOf = (header: string | undefined): string | undefined =>
  header !== undefined && URL.canParse(`http://${header}`) ? new URL(`http://${header}`).hostname : undefined

/** HTTP/1.1 demands exactly one `Host` header. */
export const hasOneHost = ({ httpVersion, rawHeaders }: IncomingMessage): boolean => {
  const hosts = rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host")
  return hosts.length === 1 || (hosts.length === 0 && httpVersion !== "1.1")
}

/**
 * Browsers send no `Origin` if a page does not ask to read the response, as with `<img>`, but they send
 * `Sec-Fetch-Site`. Other programs send neither.
 */
export const isOfForeignPage = ({ headers }: Pick<RequestHead, "headers">): boolean => {
  const site = headers["sec-fetch-site"]
  return site !== undefined && site !== "same-origin" && site !== "none"
}

export const isJson = (contentType: string | undefined): boolean =>
  contentType !== undefined && /^application\/json\s*(;|$)/i.test(contentType)

/** Compares digests, because these have equal length: the time says nothing about the token. */
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

/** The message for a target that cannot be read. */
export const unreadableTarget = "The request target cannot be read."

/**
 * Whether the target can be parsed as a URL. If not, the response is 400, for every method.
 * Does not use `URL.canParse`: in Node 20 it misreads Latin-1 text after some thousand calls.
 */
export const isReadable = (target: string): boolean =>
  plainTarget.test(target) || Option.isSome(parseUrl(target))

/** Most targets: parsing URLs is a part of what a short request costs. */
const plainTarget = /^\/(?!\/)[\w./?=&-]*$/

const parseUrl = Option.liftThrowable((target: string) => new URL(target, "http://127.0.0.1"))

/**
 * The path of a target, without its query: `/status` of `/status?now` and of `http://localhost/status`.
 * None if the target has neither of these two forms, or cannot be parsed.
 */
export const pathOf = (target: string): Option.Option<string> => {
  const origin = /^https?:\/\/[^/?#\s]+/i.exec(target)?.[0] ?? ""
  const path = target.slice(origin.length).replace(/[?#].*/s, "") || (origin === "" ? "" : "/")
  return path.startsWith("/") && isReadable(target) ? Option.some(path) : Option.none()
}

/** Escapes a path for the router, which would decode percent signs and cut at semicolons. */
export const literalPath = (path: string): string => path.replaceAll("%", "%25").replaceAll(";", "%3B")
