/**
 * What goes wrong with a request to Sanity: why, in its own words, and what to do about it.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { excerpt } from "../../../internal/printable.ts"
import { OptionalErrorChain } from "../../../internal/SerializedError.ts"
import { passes } from "../../httpClient/HttpFailure.ts"
import type { RequestFailed } from "../../httpClient/Requests.ts"
import type { SanityOptions } from "./SanityOptions.ts"

/** Sanity cannot be asked, or refuses. */
export class SanityFailed extends Schema.TaggedError<SanityFailed>()("vitrine/SanityFailed", {
  /** The name of the query, where it is about one. */
  query: Schema.optional(Schema.String),
  /** What is wrong, and what to do about it. */
  detail: Schema.String,
  /** HTTP status, where that is what is wrong. */
  status: Schema.optional(Schema.Number),
  /** Whether another try may succeed later without anybody doing something. */
  isTransient: Schema.Boolean,
  cause: OptionalErrorChain
}) {
  override get message() {
    return this.query === undefined ? this.detail : `Query "${this.query}": ${this.detail}`
  }
}

/** A question, as messages name it. */
export interface Question {
  readonly name?: string
  readonly groq: string
}

export type SanityErrors = ReturnType<typeof makeErrors>

export const makeErrors = ({
  dataset,
  projectId,
  token
}: Pick<SanityOptions, "dataset" | "projectId" | "token">) => {
  /** What a status means, and what to do about it. */
  const advice = (status: number): string => {
    switch (status) {
      case 401:
      case 403:
        return token === undefined
          ? `Sanity lets nobody read the dataset "${dataset}" without a token. Give "token" one with the role Viewer: ${tokens}`
          : `the token may not read the dataset "${dataset}". Check "token", and that it is one of the project ${projectId}: ${tokens}`
      case 404:
        return `there is no project ${projectId}, or no dataset "${dataset}" in it. Check "projectId" and "dataset": manage.sanity.io shows both`
      case 429:
        return "Sanity has had too many requests"
      default:
        return passes(status) ? "Sanity failed" : "Sanity refuses the request"
    }
  }

  const refused = (status: number, said?: unknown): string => {
    const words = excerpt(wordsOf(said))
    return `${advice(status)} (HTTP ${status}${words === "" ? "" : `, ${words}`})`
  }

  return {
    /** What a refusal means, for whatever was asked. */
    refused,

    requestFailed: ({ groq, name }: Question, error: RequestFailed): SanityFailed => {
      const { isTransient, said, status } = error
      const mistake = decodeParseError(said)
      return new SanityFailed({
        ...named(name),
        detail: Option.match(mistake, {
          onNone: () => (status === undefined ? excerpt(error.message) : refused(status, said)),
          onSome: ({ error: { description, start } }) => `${placeText(groq, start)}: ${excerpt(description)}`
        }),
        ...(status === undefined ? {} : { status }),
        isTransient,
        cause: error
      })
    },

    unexpected: ({ name }: Question, detail: string): SanityFailed =>
      new SanityFailed({ ...named(name), detail, isTransient: false })
  }
}

const tokens = "in Sanity, manage.sanity.io, the project, API, Tokens"

const named = (name: string | undefined) => (name === undefined ? {} : { query: name })

/** What an error says, in each of the three shapes that the API has for it. */
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
      /** Where it is, in characters from the beginning. */
      start: Schema.NonNegativeInt
    })
  })
)

/** Where a mistake in GROQ is, with what stands there. */
const placeText = (groq: string, start: number): string => {
  const lines = groq.slice(0, start).split(/\r\n|\r|\n/)
  const rest = groq.slice(start)
  return `the GROQ cannot be read at line ${lines.length}, column ${(lines.at(-1) ?? "").length + 1} (${
    rest.trim() === "" ? "its end" : `"${excerpt(rest.slice(0, 40))}"`
  })`
}
