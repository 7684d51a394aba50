/**
 * The request target of an HTTP request, read exactly (decisions, part B).
 */
import * as Option from "effect/Option"

/**
 * The path of a target, without its query: `/status` of `/status?now` and of `http://localhost/status`.
 * None where the target is not one of these two forms.
 */
export const path = (target: string): Option.Option<string> => {
  const origin = /^https?:\/\/[^/?#\s]+/i.exec(target)?.[0] ?? ""
  const path = target.slice(origin.length).replace(/[?#].*$/, "") || (origin === "" ? "" : "/")
  return path.startsWith("/") ? Option.some(path) : Option.none()
}

/** The path in a form that the router takes literally: it would decode percent signs and cut at semicolons. */
export const literal = (path: string): string => path.replaceAll("%", "%25").replaceAll(";", "%3B")
