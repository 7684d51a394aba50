/**
 * The query of a listing in the body of `POST …/listRecords`, for what does not fit into a URL.
 */
import * as Arr from "effect/Array"
import * as Either from "effect/Either"
import * as Predicate from "effect/Predicate"
import { type ApiError, invalidRequest } from "../ApiError.ts"
import { parseObject } from "../readJsonBody.ts"
import { decodeListQuery, type ListQuery, type QueryParameters, unsupported } from "./ListQuery.ts"

/** Decodes what the text of a body asks for; it is the same as the parameters of a URL with those names. */
export const decodeListBody = (text: string): Either.Either<ListQuery, ApiError> =>
  Either.gen(function* () {
    const body = yield* parseObject(text)
    const parameters = yield* Either.all(Object.entries(body).map(parametersOf))
    return yield* decodeListQuery(Object.fromEntries(parameters.flat()))
  })

type Parameters = ReadonlyArray<readonly [name: string, value: QueryParameters[string]]>

const parametersOf = ([name, value]: [string, unknown]): Either.Either<Parameters, ApiError> => {
  if (name === "method" && value === "post") {
    // The official client sends its own option along, and the API puts up with it.
    return Either.right([])
  }
  if (name === "fields") {
    return Arr.isArray(value) && value.every(Predicate.isString)
      ? Either.right(value.length === 0 ? [] : [["fields[]", value]])
      : Either.left(invalidRequest('"fields" must be an array of names of fields.'))
  }
  if (name === "sort") {
    return Arr.isArray(value) && value.every(isTexts)
      ? Either.right(
          value.flatMap((key, index) =>
            Object.entries(key).map(([part, text]) => [`sort[${index}][${part}]`, text] as const)
          )
        )
      : Either.left(invalidRequest('"sort" must be an array of objects with a "field" and a "direction".'))
  }
  if (name.includes("[")) {
    return Either.left(unsupported(name))
  }
  return Predicate.isString(value) || Predicate.isNumber(value) || Predicate.isBoolean(value)
    ? Either.right([[name, String(value)]])
    : Either.left(invalidRequest(`${JSON.stringify(name)} must be a text, a number, true or false.`))
}

const isTexts = (value: unknown): value is Readonly<Record<string, string>> =>
  Predicate.isReadonlyRecord(value) && Object.values(value).every(Predicate.isString)
