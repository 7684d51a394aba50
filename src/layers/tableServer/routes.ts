/**
 * The routes of the API, and how an answer or an error becomes a response.
 */
import * as HttpRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { TableFolderError } from "../../services/TableServer.ts"
import { type ApiError, iteratorNotAvailable, notFound, unknownTable } from "./ApiError.ts"
import { type ApiDependencies, apiRequest } from "./apiRequest.ts"
import { answered, toApp } from "./app.ts"
import type { AttachmentFolder } from "./attachments/AttachmentFolder.ts"
import { serveAttachments } from "./attachments/attachmentCells.ts"
import { readJsonBody } from "./readJsonBody.ts"
import { decodeListBody } from "./records/ListBody.ts"
import { decodeOffset, encodeOffset } from "./records/ListOffset.ts"
import {
  decodeListQuery,
  decodeRecordQuery,
  type ListQuery,
  type QueryParameters
} from "./records/ListQuery.ts"
import { listPage, withFieldIds } from "./records/ListRecords.ts"
import { schemaRoute } from "./schema/schemaRoute.ts"
import type { InvalidTableFile } from "./tables/InvalidTableFile.ts"
import { tableId } from "./tables/identifiers.ts"
import type { ServedRecord, Table } from "./tables/Table.ts"
import type { TableFolder } from "./tables/TableFolder.ts"
import type { Webhooks } from "./webhooks/Webhooks.ts"
import { webhookRoutes } from "./webhooks/webhookRoutes.ts"

export interface RouteDependencies extends ApiDependencies {
  readonly folder: TableFolder
  readonly webhooks: Webhooks
  /** Names this server process in offsets; letters and digits. */
  readonly issuer: string
  readonly attachments: AttachmentFolder
  /** The URL of an attachment for whoever reached this server by that `Host`. */
  readonly linkTo: (link: {
    readonly file: string
    readonly id: string
    readonly now: number
    readonly hostHeader: string | undefined
  }) => string
}

/** Everything the server answers to; no request makes it fail. */
export const make = (dependencies: RouteDependencies) =>
  toApp(
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
      HttpRouter.add(
        "GET",
        "/v0/:baseId/:table/:recordId",
        about(dependencies, (table) => oneRecord(dependencies, table))
      ),
      schemaRoute(dependencies),
      webhookRoutes(dependencies)
    )
  )

/** A request about a table. */
const about = <R>(
  dependencies: RouteDependencies,
  answer: (table: Table) => Effect.Effect<unknown, ApiError | InvalidTableFile | TableFolderError, R>
) =>
  Effect.gen(function* () {
    const { baseId = "", table: wanted = "" } = yield* HttpRouter.params
    if (wanted === "") {
      return yield* answered(notFound)
    }
    const { folder } = dependencies
    const served = Effect.gen(function* () {
      const found = yield* folder.find(wanted)
      if (Option.isNone(found)) {
        return yield* unknownTable(wanted, yield* folder.names)
      }
      return HttpServerResponse.unsafeJson(yield* answer(found.value))
    })
    return yield* apiRequest(dependencies, baseId, { kind: "tables", table: wanted }, served)
  })

const query = <A>(decode: (parameters: QueryParameters) => Either.Either<A, ApiError>) =>
  Effect.flatMap(HttpServerRequest.ParsedSearchParams, decode)

const list = (dependencies: RouteDependencies, table: Table, query: ListQuery) =>
  Effect.gen(function* () {
    const { faults, folder, issuer } = dependencies
    if (query.offset !== undefined) {
      const gone = yield* faults.takeOneOf({ kind: "tables", table: table.name }, ["iterator"])
      if (Option.isSome(gone)) return yield* iteratorNotAvailable
    }
    const views = query.view === undefined ? {} : yield* folder.views
    const here = { issuer, tableId: tableId(table.name), issuedAt: yield* Clock.currentTimeMillis }
    const index = query.offset === undefined ? 0 : yield* decodeOffset(query.offset, here)
    const page = yield* listPage(table, views, query, index)
    const records = yield* serve(dependencies, table, query, page.records)
    return page.next === undefined
      ? { records }
      : { records, offset: encodeOffset({ ...here, index: page.next }) }
  })

const oneRecord = (dependencies: RouteDependencies, table: Table) =>
  Effect.gen(function* () {
    const asked = yield* query(decodeRecordQuery)
    const { recordId } = yield* HttpRouter.params
    const wanted = table.records.filter(({ id }) => id === recordId)
    const [record] = yield* serve(dependencies, table, asked, wanted)
    return record ?? (yield* notFound)
  })

/** Records as an answer has them. */
const serve = (
  { attachments, linkTo }: RouteDependencies,
  table: Table,
  { byFieldId }: Pick<ListQuery, "byFieldId">,
  records: ReadonlyArray<ServedRecord>
) =>
  Effect.gen(function* () {
    const { headers } = yield* HttpServerRequest.HttpServerRequest
    const now = yield* Clock.currentTimeMillis
    const served = yield* serveAttachments(records, attachments.find, (file, id) =>
      linkTo({ file, id, now, hostHeader: headers.host })
    )
    return byFieldId ? withFieldIds(table, served) : served
  })
