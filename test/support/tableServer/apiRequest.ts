/**
 * What every request to the API goes through: who may ask, how often, and what goes wrong on purpose.
 */
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Record from "effect/Record"
import * as Ref from "effect/Ref"
import type { BadRequest, BodyTooLarge } from "../../../src/layers/http/errors.ts"
import * as RequestBody from "../../../src/layers/http/RequestBody.ts"
import { isJson } from "../../../src/layers/http/RequestHead.ts"
import {
  type ApiError,
  invalidRequest,
  invalidTableFile,
  notFound,
  responseOf,
  serverError,
  unauthorized,
  unknownModel
} from "./ApiError.ts"
import type { Faults, Place } from "./Faults.ts"
import type { InvalidTableFile } from "./FileCache.ts"
import { orFault } from "./node/performFault.ts"
import type { RateLimit } from "./RateLimit.ts"
import type { TableServerOptions } from "./TableServerOptions.ts"
import type { RequestCounts, TableFolderError } from "./TableServerService.ts"

export interface ApiDependencies {
  readonly options: Pick<TableServerOptions, "token" | "baseId">
  readonly rateLimit: RateLimit
  readonly faults: Faults
  readonly counts: Ref.Ref<RequestCounts>
}

/** The names in the path of a request, by those in the path of its route. */
export type Names = Readonly<Record<string, string>>

/** Why there is no answer. */
export type Failure = ApiError | BadRequest | BodyTooLarge | InvalidTableFile | TableFolderError

/**
 * Responds to a request about a base with JSON, or with an empty body where there is none. Every one is counted; one that is
 * rejected here has no fault.
 */
export const apiRequest = <R>(
  { counts, faults, options, rateLimit }: ApiDependencies,
  placeOf: (names: Names) => Place,
  answer: (names: Names) => Effect.Effect<unknown, Failure, R>
) =>
  Effect.gen(function* () {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    const names = yield* Effect.flatMap(HttpLayerRouter.params, decodeNames)
    const { baseId = "" } = names
    const place = placeOf(names)
    yield* count(counts, place)
    yield* authenticate(headers.authorization, options.token)
    if (options.baseId !== undefined && baseId !== options.baseId) {
      return yield* unknownModel(`There is no base ${JSON.stringify(baseId)}.`)
    }
    yield* Effect.tapError(rateLimit(baseId), () =>
      Ref.update(counts, (counts) => ({ ...counts, rateLimited: counts.rateLimited + 1 }))
    )
    return yield* orFault(faults, place, Effect.map(answer(names), json))
  }).pipe(
    Effect.catchTags({
      "vitrine/ApiError": (error) => Effect.succeed(responseOf(error)),
      "vitrine/InvalidTableFile": ({ message }) => Effect.succeed(responseOf(invalidTableFile(message))),
      "vitrine/TableFolderError": ({ message }) =>
        Effect.as(Effect.logError(message), responseOf(serverError(message)))
    }),
    Effect.catchAllDefect((defect) =>
      Effect.as(
        Effect.logError("A request to the table server failed", defect),
        responseOf(serverError("The local table server failed. Its log says more."))
      )
    )
  )

/** The router leaves them percent-encoded. */
const decodeNames = (params: Readonly<Record<string, string | undefined>>): Either.Either<Names, ApiError> =>
  Either.try({
    try: () => Record.map(params, (name = "") => decodeURIComponent(name)),
    catch: () => notFound
  }).pipe(
    Either.filterOrLeft(
      Record.every((name) => name !== ""),
      () => notFound
    )
  )

const json = (body: unknown) =>
  body === undefined ? HttpServerResponse.empty({ status: 200 }) : HttpServerResponse.unsafeJson(body)

export const noRequests: RequestCounts = {
  tables: {},
  attachments: 0,
  webhooks: 0,
  payloads: 0,
  schema: 0,
  rateLimited: 0
}

/** Counts a request, for tests of clients. */
export const count = (counts: Ref.Ref<RequestCounts>, place: Place) =>
  Ref.update(counts, (before) =>
    place.kind === "tables"
      ? { ...before, tables: { ...before.tables, [place.table]: (before.tables[place.table] ?? 0) + 1 } }
      : { ...before, [place.kind]: before[place.kind] + 1 }
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

/** The parameters of the URL. */
export const query = Effect.map(HttpServerRequest.HttpServerRequest, ({ originalUrl }) =>
  HttpServerRequest.searchParamsFromURL(new URL(originalUrl, "http://localhost"))
)

/** The text of the body, which must be said to be JSON. */
export const body = Effect.gen(function* () {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const bytes = yield* RequestBody.read
  if (!isJson(headers["content-type"])) {
    return yield* invalidRequest('The body must have the "Content-Type" application/json.')
  }
  return yield* Effect.try({
    try: () => new TextDecoder("utf-8", { fatal: true }).decode(bytes),
    catch: () => invalidRequest("The body must be UTF-8 text.")
  })
})
