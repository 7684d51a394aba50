/**
 * What every request to the API goes through: who may ask, how often, and what goes wrong on purpose.
 */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import type { TableFolderError } from "../../services/TableServer.ts"
import {
  type ApiError,
  invalidTableFile,
  notFound,
  serverError,
  unauthorized,
  unknownModel
} from "./ApiError.ts"
import { answered } from "./app.ts"
import type { Faults, Place } from "./faults/Faults.ts"
import { orFault } from "./faults/performFault.ts"
import type { RateLimit } from "./RateLimit.ts"
import type { RequestCounter } from "./RequestCounter.ts"
import type { TableServerOptions } from "./TableServerOptions.ts"
import type { InvalidTableFile } from "./tables/InvalidTableFile.ts"

export interface ApiDependencies {
  readonly options: Pick<TableServerOptions, "token" | "baseId">
  readonly rateLimit: RateLimit
  readonly faults: Faults
  readonly counter: RequestCounter
}

/** Responds to a request about a base. Every one is counted; one that is rejected here has no fault. */
export const apiRequest = <R>(
  { counter, faults, options, rateLimit }: ApiDependencies,
  baseId: string,
  place: Place,
  answer: Effect.Effect<
    HttpServerResponse.HttpServerResponse,
    ApiError | InvalidTableFile | TableFolderError,
    R
  >
) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    if (baseId === "") {
      return yield* notFound
    }
    yield* counter.request(place)
    yield* authenticate(request.headers.authorization, options.token)
    if (options.baseId !== undefined && baseId !== options.baseId) {
      return yield* unknownModel(`There is no base ${JSON.stringify(baseId)}.`)
    }
    yield* Effect.tapError(rateLimit.take(baseId), () => counter.rateLimited)
    return yield* orFault(faults, place, answer)
  }).pipe(
    Effect.catchTags({
      "vitrine/InvalidTableFile": (error) => Effect.fail(invalidTableFile(error.message)),
      "vitrine/TableFolderError": (error) =>
        Effect.zipRight(Effect.logError(error.message), Effect.fail(serverError(error.message)))
    }),
    answered
  )

const authenticate = (
  header: string | undefined,
  token: string | undefined
): Either.Either<void, ApiError> => {
  const given = /^bearer +(\S+)$/i.exec(header ?? "")?.[1]
  if (given === undefined) {
    return Either.left(unauthorized('A header "Authorization: Bearer <token>" is needed.'))
  }
  return token === undefined || given === token
    ? Either.void
    : Either.left(unauthorized("The token is not the one this server was started with."))
}
