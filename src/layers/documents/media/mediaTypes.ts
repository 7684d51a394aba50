/**
 * Whether what a server gives is what its link is expected to lead to.
 */
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Option from "effect/Option"
import { excerpt } from "../../../internal/printable.ts"
import { saysNothing } from "./fileNames.ts"
import { typeOfUrl } from "./links.ts"
import { isOfType } from "./Rules.ts"

/** What a server says that a file is, in small letters and without parameters; `None` where it says nothing of use. */
export const typeOfResponse = ({
  headers
}: Pick<HttpClientResponse.HttpClientResponse, "headers">): Option.Option<string> =>
  Option.fromNullable(headers["content-type"]?.split(";", 1)[0]?.trim().toLowerCase()).pipe(
    Option.filter((type) => /^[a-z0-9.+-]+\/[a-z0-9.+-]+$/.test(type))
  )

/** What is wrong with the type of a file; `None` where nothing is. */
export const wrongType = (
  url: URL,
  type: Option.Option<string>,
  types: ReadonlyArray<string> | undefined
): Option.Option<string> => {
  const byName = typeOfUrl(url)
  const said = Option.orElse(
    Option.filter(type, (type) => !saysNothing.has(type)),
    () => byName
  )
  if (types !== undefined) {
    return Option.exists(said, (type) => isOfType(type, types))
      ? Option.none()
      : Option.some(notThat(said, types.join(" or ")))
  }
  return Option.filter(said, (type) => pages.has(type) && !Option.contains(byName, type)).pipe(
    Option.map(() =>
      notThat(
        said,
        Option.getOrElse(byName, () => "a file")
      )
    )
  )
}

/** What is wrong with the first bytes of a file, none where it is empty; `None` where nothing is. */
export const wrongBeginning = (
  url: URL,
  type: Option.Option<string>,
  bytes: Uint8Array
): Option.Option<string> =>
  Option.orElse(Option.filter(type, isMedia), () => Option.filter(typeOfUrl(url), isMedia)).pipe(
    Option.flatMap((expected) => {
      if (bytes.length === 0) return Option.some(`it is empty, not ${expected}`)
      const text = Buffer.from(bytes.subarray(0, 512)).toString("latin1").trimStart()
      const isPage = (expected === "image/svg+xml" ? isHtml : isMarkup).test(text)
      const found = isPage ? "text/html" : isJson.test(text) ? "application/json" : undefined
      return Option.map(Option.fromNullable(found), (found) => notThat(Option.some(found), expected))
    })
  )

const isMedia = (type: string): boolean => /^(?:image|video|audio)\//.test(type)

const isHtml = /^(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html|head|body|title|script|center|h1)\b/i
const isMarkup = /^(?:\xef\xbb\xbf)?\s*</
const isJson = /^(?:\xef\xbb\xbf)?\s*(?:\{\s*["}]|\[\s*[[{"\]])/

/** What a server shows where it has something to say to people, or to programs. */
const pages: ReadonlySet<string> = new Set(["text/html", "application/xhtml+xml", "application/json"])

const notThat = (found: Option.Option<string>, expected: string): string => {
  const what = Option.match(found, {
    onNone: () => "of an unknown type",
    onSome: (type) =>
      type === "text/html" ? "an HTML page" : type === "application/json" ? "JSON" : excerpt(type)
  })
  const hint = Option.exists(found, (type) => pages.has(type)) ? ": perhaps a login or error page" : ""
  return `it is ${what}, not ${expected}${hint}`
}
