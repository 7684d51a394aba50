/**
 * Errors of requests to Sanity: the reason, the words of Sanity, and what to do.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { excerpt } from "../../../internal/printable.ts"
import { SourceError } from "../../../services/SourceError.ts"
import { refusalText } from "../../documents/Cms.ts"
import { passes } from "../../httpClient/HttpFailure.ts"
import type { RequestFailed } from "../../httpClient/Requests.ts"
import type { SanityOptions } from "./SanityOptions.ts"

/** A query, as messages name it. */
export interface Question {
  readonly name?: string
  readonly groq: string
}

type Place = Pick<SanityOptions, "dataset" | "projectId" | "token">

/** The meaning of a status, and what to do. */
const adviceOf = (status: number, { dataset, projectId, token }: Place): string => {
  switch (status) {
    case 401:
    case 403:
      return token === undefined
        ? `Sanity does not let anyone read the dataset "${dataset}" without a token. Give "token" one with the role Viewer: ${tokens}`
        : `the token may not read the dataset "${dataset}". Check "token", and that it is one of the project ${projectId}: ${tokens}`
    case 404:
      return `there is no project ${projectId}, or no dataset "${dataset}" in it. Check "projectId" and "dataset": manage.sanity.io shows both`
    case 429:
      return "Sanity has had too many requests"
    default:
      return passes(status) ? "Sanity failed" : "Sanity refuses the request"
  }
}

/** Why there is no response. */
export const failureText = ({ detail, said, status }: RequestFailed, place: Place): string =>
  status === undefined ? excerpt(detail) : refusalText(adviceOf(status, place), status, wordsOf(said))

export const requestFailed = ({ groq, name }: Question, error: RequestFailed, place: Place) =>
  new SourceError({
    detail: `${questionText(name)}${Option.match(decodeParseError(error.said), {
      onNone: () => failureText(error, place),
      onSome: ({ error: { description, start } }) => `${placeText(groq, start)}: ${excerpt(description)}`
    })}`,
    status: error.status,
    isTransient: error.isTransient
  })

export const unexpected = (name: string | undefined, detail: string) =>
  new SourceError({ detail: `${questionText(name)}${detail}` })

const questionText = (name: string | undefined) => (name === undefined ? "" : `Query "${name}": `)

const tokens = "in Sanity, manage.sanity.io, the project, API, Tokens"

/** The text of an error, in each of the three shapes of the API. */
const wordsOf = (said: unknown): string => {
  if (!Predicate.isReadonlyRecord(said)) return ""
  const { error, message } = said
  return Predicate.isReadonlyRecord(error)
    ? ([error.description, error.type].find(Predicate.isString) ?? "")
    : [error, message].filter(Predicate.isString).join(": ")
}

const decodeParseError = Schema.decodeUnknownOption(
  Schema.Struct({
    error: Schema.Struct({
      type: Schema.Literal("queryParseError"),
      description: Schema.String,
      /** In characters from the beginning of the query. */
      start: Schema.NonNegativeInt
    })
  })
)

/** The place of a mistake in GROQ, with the text there. */
const placeText = (groq: string, start: number): string => {
  const lines = groq.slice(0, start).split(/\r\n|\r|\n/)
  const rest = groq.slice(start)
  return `the GROQ cannot be read at line ${lines.length}, column ${(lines.at(-1) ?? "").length + 1} (${
    rest.trim() === "" ? "its end" : `"${excerpt(rest.slice(0, 40))}"`
  })`
}
