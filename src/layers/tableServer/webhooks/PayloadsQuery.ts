/**
 * The query of a listing of payloads.
 */
import * as Either from "effect/Either"
import { type ApiError, invalidRequest } from "../ApiError.ts"
import { type QueryParameters, single, wholeNumber } from "../records/ListQuery.ts"

export interface PayloadsQuery {
  /** The number of the first payload that is wanted, from 1. Default 1. */
  readonly cursor: number
  /** How many payloads at most, 1 to 50. Default 50. */
  readonly limit: number
}

export const maxLimit = 50

export const decodePayloadsQuery = (parameters: QueryParameters): Either.Either<PayloadsQuery, ApiError> =>
  Either.gen(function* () {
    const { cursor = "1", limit = String(maxLimit), ...others } = parameters
    for (const name of Object.keys(others)) {
      return yield* Either.left(
        invalidRequest(
          `The parameter ${JSON.stringify(name)} is not supported for payloads. Supported are cursor and limit.`
        )
      )
    }
    return {
      cursor: yield* decodeNumber("cursor", cursor, Number.MAX_SAFE_INTEGER),
      limit: yield* decodeNumber("limit", limit, maxLimit)
    }
  })

const decodeNumber = (name: string, given: string | ReadonlyArray<string>, max: number) =>
  Either.flatMap(single(name, typeof given === "string" ? [given] : given), (text) =>
    wholeNumber(name, text, max)
  )
