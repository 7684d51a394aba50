/**
 * The routes of the API, and how an answer or an error becomes a response.
 */
import * as HttpRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import {
  type ApiError,
  invalidTableFile,
  notFound,
  serverError,
  unauthorized,
  unknownModel,
  unknownTable
} from "./ApiError.ts"
import { tableId } from "./identifiers.ts"
import { decodeOffset, encodeOffset } from "./ListOffset.ts"
import { decodeListQuery } from "./ListQuery.ts"
import { listPage } from "./ListRecords.ts"
import type { RateLimit } from "./RateLimit.ts"
import type { TableFolder } from "./TableFolder.ts"
import type { TableServerOptions } from "./TableServerOptions.ts"

export interface RouteDependencies {
  readonly options: Pick<TableServerOptions, "token" | "baseId">
  readonly folder: TableFolder
  readonly rateLimit: RateLimit
  /** Names this server process in offsets; letters and digits. */
  readonly issuer: string
}

/** Everything the server answers to; no request makes it fail. */
export const make = (dependencies: RouteDependencies) =>
  HttpRouter.toHttpEffect(HttpRouter.add("GET", "/v0/:baseId/:table", listRecords(dependencies))).pipe(
    Effect.provideService(HttpRouter.RouterConfig, {
      caseSensitive: true,
      ignoreDuplicateSlashes: false,
      ignoreTrailingSlash: false,
      maxParamLength: Number.POSITIVE_INFINITY
    }),
    Effect.map((app) =>
      app.pipe(
        Effect.catchTag("RouteNotFound", () => Effect.succeed(refusal(notFound))),
        Effect.catchAllDefect((defect) =>
          Effect.as(
            Effect.logError("A request to the table server failed", defect),
            refusal(serverError("The local table server failed. Its log says more."))
          )
        )
      )
    )
  )

const listRecords = ({ folder, issuer, options, rateLimit }: RouteDependencies) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const { baseId = "", table: wanted = "" } = yield* HttpRouter.params
    if (baseId === "" || wanted === "") {
      return yield* notFound
    }
    yield* authenticate(request.headers.authorization, options.token)
    if (options.baseId !== undefined && baseId !== options.baseId) {
      return yield* unknownModel(`There is no base ${JSON.stringify(baseId)}.`)
    }
    yield* rateLimit.take(baseId)

    const query = yield* decodeListQuery(yield* HttpServerRequest.ParsedSearchParams)
    const found = yield* folder.find(wanted)
    if (Option.isNone(found)) {
      return yield* unknownTable(wanted, yield* folder.names)
    }
    const table = found.value
    const views = query.view === undefined ? {} : yield* folder.views
    const here = { issuer, tableId: tableId(table.name), issuedAt: yield* Clock.currentTimeMillis }
    const index = query.offset === undefined ? 0 : yield* decodeOffset(query.offset, here)
    const { next, records } = yield* listPage(table, views, query, index)
    return HttpServerResponse.unsafeJson(
      next === undefined ? { records } : { records, offset: encodeOffset({ ...here, index: next }) }
    )
  }).pipe(
    Effect.catchTags({
      InvalidTableFile: (error) => Effect.fail(invalidTableFile(error.message)),
      TableFolderError: (error) =>
        Effect.zipRight(Effect.logError(error.message), Effect.fail(serverError(error.message)))
    }),
    Effect.catchTag("ApiError", (error) => Effect.succeed(refusal(error)))
  )

const refusal = ({ body, status }: ApiError) => HttpServerResponse.unsafeJson(body, { status })

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
