/**
 * The request target of an HTTP request, read exactly.
 */
import * as Option from "effect/Option"

/** The message for a target that cannot be read. */
export const unreadable = "The request target cannot be read."

/**
 * Whether a URL can be made of the target; one of which none can be made is 400, whatever it is sent with.
 * Not by `URL.canParse`: in Node 20 it misreads Latin-1 text once it has been called some thousand times.
 */
export const isReadable = (target: string): boolean => Option.isSome(parseUrl(target))

const parseUrl = Option.liftThrowable((target: string) => new URL(target, "http://127.0.0.1"))

/**
 * The path of a target, without its query: `/status` of `/status?now` and of `http://localhost/status`.
 * None where the target is not one of these two forms, or is not readable.
 */
export const path = (target: string): Option.Option<string> => {
  const origin = /^https?:\/\/[^/?#\s]+/i.exec(target)?.[0] ?? ""
  const path = target.slice(origin.length).replace(/[?#].*$/, "") || (origin === "" ? "" : "/")
  return path.startsWith("/") && isReadable(target) ? Option.some(path) : Option.none()
}

/** The path in a form that the router takes literally: it would decode percent signs and cut at semicolons. */
export const literal = (path: string): string => path.replaceAll("%", "%25").replaceAll(";", "%3B")
