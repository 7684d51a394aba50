/**
 * What the hosted table API, or a proxy before it, says when it refuses a request.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"

export interface ErrorResponse {
  /** The API's name for the error, such as `NOT_FOUND`; empty where it gave none. */
  readonly type: string
  /** The complete text as it came: unbounded, may be empty. */
  readonly words: string
}

/**
 * Reads the body of a refusal: `{"error":"TYPE"}`, `{"error":{"type","message"}}` with either left out,
 * `{"errors":[{"error","message"}]}`, a page of HTML, plain text, or nothing at all. Only the beginning of a text is
 * read.
 */
export const readErrorResponse = (body: string): ErrorResponse =>
  Option.match(parseJson(body), {
    onNone: () => ({ type: "", words: readText(body.slice(0, maxText)) }),
    onSome: readJson
  })

const parseJson = Schema.decodeOption(Schema.parseJson())

const readJson = (json: unknown): ErrorResponse => {
  const error = property(json, "error") ?? firstOf(property(json, "errors"))
  const type = asText(error) || asText(property(error, "type")) || asText(property(error, "error"))
  const message = asText(property(error, "message")) || asText(property(json, "message")) || asText(json)
  return { type, words: [type, message].filter((part) => part !== "").join(": ") }
}

const property = (value: unknown, name: string): unknown =>
  Predicate.hasProperty(value, name) ? value[name] : undefined

const firstOf = (value: unknown): unknown => (Array.isArray(value) ? value[0] : undefined)

const asText = (value: unknown): string => (Predicate.isString(value) ? value : "")

/** Whatever there is to say is said at the beginning; these patterns would take long for a long text. */
const maxText = 4096

const readText = (text: string): string =>
  /<title[^>]*>(.*?)<\/title/is.exec(text)?.[1] ?? text.replaceAll(/<[^>]*>/g, " ")
