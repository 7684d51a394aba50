/**
 * Parses the request target of an HTTP request.
 */
import * as Option from "effect/Option"

/** The message for a target that cannot be read. */
export const unreadable = "The request target cannot be read."

/**
 * Whether the target can be parsed as a URL. If not, the response is 400, for every method.
 * Does not use `URL.canParse`: in Node 20 it misreads Latin-1 text after some thousand calls.
 */
export const isReadable = (target: string): boolean => Option.isSome(parseUrl(target))

const parseUrl = Option.liftThrowable((target: string) => new URL(target, "http://127.0.0.1"))

/**
 * The path of a target, without its query: `/status` of `/status?now` and of `http://localhost/status`.
 * None if the target has neither of these two forms, or cannot be parsed.
 */
export const path = (target: string): Option.Option<string> => {
  const origin = /^https?:\/\/[^/?#\s]+/i.exec(target)?.[0] ?? ""
  const path = target.slice(origin.length).replace(/[?#].*$/, "") || (origin === "" ? "" : "/")
  return path.startsWith("/") && isReadable(target) ? Option.some(path) : Option.none()
}

/** Escapes a path for the router, which would decode percent signs and cut at semicolons. */
export const literal = (path: string): string => path.replaceAll("%", "%25").replaceAll(";", "%3B")
