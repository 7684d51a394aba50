/**
 * The routes of the API, and how an answer or an error becomes a response.
 */
import * as HttpRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { TableFolderError } from "../../services/TableServer.ts"
import {
  type ApiError,
  invalidTableFile,
  notFound,
  serverError,
  unauthorized,
  unknownModel,
  unknownTable
} from "./ApiError.ts"
import type { InvalidTableFile } from "./InvalidTableFile.ts"
import { tableId } from "./identifiers.ts"
import { decodeListBody } from "./ListBody.ts"
import { decodeOffset, encodeOffset } from "./ListOffset.ts"
import { decodeListQuery, decodeRecordQuery, type ListQuery, type QueryParameters } from "./ListQuery.ts"
import { listPage, withFieldIds } from "./ListRecords.ts"
import type { RateLimit } from "./RateLimit.ts"
import { readJsonBody } from "./readJsonBody.ts"
import type { Table } from "./Table.ts"
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
  HttpRouter.toHttpEffect(
    Layer.mergeAll(
      HttpRouter.add(
        "GET",
        "/v0/:baseId/:table",
        about(dependencies, (table) =>
          Effect.flatMap(query(decodeListQuery), (query) => list(dependencies, table, query))
        )
      ),
      HttpRouter.add(
        "POST",
        "/v0/:baseId/:table/listRecords",
        about(dependencies, (table) =>
          HttpServerRequest.HttpServerRequest.pipe(
            Effect.flatMap(readJsonBody),
            Effect.flatMap(decodeListBody),
            Effect.flatMap((query) => list(dependencies, table, query))
          )
        )
      ),
      HttpRouter.add("GET", "/v0/:baseId/:table/:recordId", about(dependencies, oneRecord))
    )
  ).pipe(
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

/** A request about a table: who may ask, how often, and what the answer is. */
const about = <R>(
  { folder, options, rateLimit }: RouteDependencies,
  answer: (table: Table) => Effect.Effect<unknown, ApiError | InvalidTableFile | TableFolderError, R>
) =>
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
    const found = yield* folder.find(wanted)
    if (Option.isNone(found)) {
      return yield* unknownTable(wanted, yield* folder.names)
    }
    return HttpServerResponse.unsafeJson(yield* answer(found.value))
  }).pipe(
    Effect.catchTags({
      InvalidTableFile: (error) => Effect.fail(invalidTableFile(error.message)),
      TableFolderError: (error) =>
        Effect.zipRight(Effect.logError(error.message), Effect.fail(serverError(error.message)))
    }),
    Effect.catchTag("ApiError", (error) => Effect.succeed(refusal(error)))
  )

const query = <A>(decode: (parameters: QueryParameters) => Either.Either<A, ApiError>) =>
  Effect.flatMap(HttpServerRequest.ParsedSearchParams, decode)

const list = ({ folder, issuer }: RouteDependencies, table: Table, query: ListQuery) =>
  Effect.gen(function* () {
    const views = query.view === undefined ? {} : yield* folder.views
    const here = { issuer, tableId: tableId(table.name), issuedAt: yield* Clock.currentTimeMillis }
    const index = query.offset === undefined ? 0 : yield* decodeOffset(query.offset, here)
    const page = yield* listPage(table, views, query, index)
    const records = query.byFieldId ? withFieldIds(table, page.records) : page.records
    return page.next === undefined
      ? { records }
      : { records, offset: encodeOffset({ ...here, index: page.next }) }
  })

const oneRecord = (table: Table) =>
  Effect.gen(function* () {
    const { byFieldId } = yield* query(decodeRecordQuery)
    const { recordId } = yield* HttpRouter.params
    const record = table.records.find(({ id }) => id === recordId)
    if (record === undefined) {
      return yield* notFound
    }
    return byFieldId ? withFieldIds(table, [record])[0] : record
  })

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
