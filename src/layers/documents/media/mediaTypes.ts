/**
 * Whether what a server gives is what its link is expected to lead to.
 *
 * Servers call many files by how they are written, `application/json` for a model in glTF: then the name and the first bytes decide.
 */
import * as Option from "effect/Option"
import { excerpt } from "../../../internal/printable.ts"
import type { Headers } from "../../httpClient/headers.ts"
import { saysNothing } from "./fileNames.ts"
import { typeOfUrl } from "./links.ts"
import { isOfType } from "./Rules.ts"

/** What a server says that a file is, in small letters and without parameters; `None` where it says nothing of use. */
export const typeOfResponse = ({ headers }: { readonly headers: Headers }): Option.Option<string> =>
  Option.fromNullable(headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase()).pipe(
    Option.filter((type) => /^[a-z0-9.+-]+\/[a-z0-9.+-]+$/.test(type))
  )

/** What is wrong with the type of a file; `None` where nothing is, as far as that can be known without its bytes. */
export const wrongType = (
  url: URL,
  type: Option.Option<string>,
  types: ReadonlyArray<string> | undefined
): Option.Option<string> => {
  const byName = typeOfUrl(url)
  if (types === undefined) {
    return Option.isNone(byName) && Option.exists(type, isHtmlType)
      ? Option.some(notThat(type, "a file"))
      : Option.none()
  }
  const said = Option.exists(type, saysSomething) ? [type] : [byName, type]
  return said.some((type) => Option.exists(type, (type) => isOfType(type, types)))
    ? Option.none()
    : Option.some(notThat(Option.firstSomeOf(said), types.join(" or ")))
}

/** What is wrong with the first bytes of a file, none where it is empty; `None` where nothing is. */
export const wrongBeginning = (
  url: URL,
  type: Option.Option<string>,
  types: ReadonlyArray<string> | undefined,
  bytes: Uint8Array
): Option.Option<string> => {
  const byName = typeOfUrl(url)
  const isHtml = Option.exists(type, isHtmlType)
  const expected = Option.orElse(Option.filter(type, saysSomething), () => byName)
  if (bytes.length === 0) {
    const what = Option.match(expected, { onNone: () => "", onSome: (expected) => `, not ${expected}` })
    return Option.some(`it is empty${what}`)
  }
  if (
    Option.exists(expected, isHtmlType) ||
    (isHtml && types !== undefined && isOfType("text/html", types))
  ) {
    return Option.none()
  }
  const text = Buffer.from(bytes.subarray(0, 512)).toString("latin1").trimStart()
  const form = Option.match(expected, { onNone: () => "text", onSome: formOf })
  const markup = form === "binary" || form === "json" ? startsMarkup : startsHtml
  const mayBePage = form !== "text" || isHtml
  const found =
    mayBePage && markup.test(text)
      ? Option.some("text/html")
      : (form === "binary" || form === "xml") && startsJson.test(text)
        ? Option.some("application/json")
        : Option.none()
  return Option.map(found, (found) =>
    notThat(
      Option.some(found),
      Option.getOrElse(expected, () => "a file")
    )
  )
}

const saysSomething = (type: string): boolean => !saysNothing.has(type)

const isHtmlType = (type: string): boolean => type === "text/html" || type === "application/xhtml+xml"

/** How files of a type are written: a page or an answer in their place is none of the same form. */
const formOf = (type: string): "binary" | "json" | "xml" | "text" =>
  /[/+]xml$/.test(type)
    ? "xml"
    : /[/+]json$/.test(type)
      ? "json"
      : /^(?:image|video|audio|font)\/|^application\/(?:pdf|wasm|zip)$|[+-](?:zip|binary)$/.test(type)
        ? "binary"
        : "text"

const startsHtml = /^(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html|head|body|title|script|center|h1)\b/i
const startsMarkup = /^(?:\xef\xbb\xbf)?\s*</
const startsJson = /^(?:\xef\xbb\xbf)?\s*(?:\{\s*["}]|\[\s*[[{"\]])/

const notThat = (found: Option.Option<string>, expected: string): string => {
  const what = Option.match(found, {
    onNone: () => "of an unknown type",
    onSome: (type) =>
      isHtmlType(type) ? "an HTML page" : type === "application/json" ? "JSON" : excerpt(type)
  })
  const isPage = Option.exists(found, (type) => isHtmlType(type) || type === "application/json")
  return `it is ${what}, not ${expected}${isPage ? ": perhaps a login or error page" : ""}`
}
