/**
 * The routes of the API.
 */
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { iteratorNotAvailable, notFound, unknownTable } from "./ApiError.ts"
import type { AttachmentFolder } from "./AttachmentFolder.ts"
import { type ApiDependencies, apiRequest, body, type Failure, type Names, query } from "./apiRequest.ts"
import { serveAttachments } from "./attachmentCells.ts"
import { fieldId, tableId, viewId } from "./identifiers.ts"
import { decodeListBody, decodeListQuery, decodeRecordQuery, type ListQuery } from "./ListQuery.ts"
import { decodeOffset, encodeOffset, listPage, withFieldIds } from "./ListRecords.ts"
import { fieldsOf, type ServedRecord, type Table } from "./Table.ts"
import type { TableFolder } from "./TableFolder.ts"
import { viewsOf } from "./Views.ts"
import type { Webhooks } from "./Webhooks.ts"
import { webhookRoutes } from "./webhookRoutes.ts"

export interface RouteDependencies extends ApiDependencies {
  readonly folder: TableFolder
  readonly webhooks: Webhooks
  /** Names this server process in offsets; letters and digits. */
  readonly issuer: string
  readonly attachments: AttachmentFolder
  /** The URL of an attachment for a client that reached this server by that `Host`. */
  readonly linkTo: (link: {
    readonly file: string
    readonly id: string
    readonly now: number
    readonly hostHeader: string | undefined
  }) => string
}

export const make = (dependencies: RouteDependencies) => {
  /** A request about a table. */
  const about = <R>(answer: (table: Table, names: Names) => Effect.Effect<unknown, Failure, R>) =>
    apiRequest(
      dependencies,
      ({ table = "" }) => ({ kind: "tables", table }),
      Effect.fnUntraced(function* (names) {
        const { table: wanted = "" } = names
        const found = yield* dependencies.folder.find(wanted)
        return Option.isSome(found)
          ? yield* answer(found.value, names)
          : yield* unknownTable(wanted, yield* dependencies.folder.names)
      })
    )

  return [
    HttpLayerRouter.route(
      "GET",
      "/v0/:baseId/:table",
      about((table) =>
        query.pipe(
          Effect.flatMap(decodeListQuery),
          Effect.flatMap((query) => list(dependencies, table, query))
        )
      )
    ),
    HttpLayerRouter.route(
      "POST",
      "/v0/:baseId/:table/listRecords",
      about((table) =>
        body.pipe(
          Effect.flatMap(decodeListBody),
          Effect.flatMap((query) => list(dependencies, table, query))
        )
      )
    ),
    HttpLayerRouter.route(
      "GET",
      "/v0/:baseId/:table/:recordId",
      about((table, { recordId }) =>
        query.pipe(
          Effect.flatMap(decodeRecordQuery),
          Effect.flatMap((query) =>
            serve(
              dependencies,
              table,
              query,
              table.records.filter(({ id }) => id === recordId)
            )
          ),
          Effect.flatMap(([record]) => (record === undefined ? notFound : Effect.succeed(record)))
        )
      )
    ),
    HttpLayerRouter.route(
      "GET",
      "/v0/meta/bases/:baseId/tables",
      apiRequest(
        dependencies,
        () => ({ kind: "schema" }),
        () => Effect.map(schema(dependencies.folder), (tables) => ({ tables }))
      )
    ),
    ...webhookRoutes(dependencies)
  ]
}

const list = Effect.fnUntraced(function* (dependencies: RouteDependencies, table: Table, query: ListQuery) {
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

/** Records as an answer has them. */
const serve = Effect.fnUntraced(function* (
  { attachments, linkTo }: RouteDependencies,
  table: Table,
  { returnFieldsByFieldId }: Pick<ListQuery, "returnFieldsByFieldId">,
  records: ReadonlyArray<ServedRecord>
) {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const now = yield* Clock.currentTimeMillis
  const served = yield* serveAttachments(records, attachments.find, (file, id) =>
    linkTo({ file, id, now, hostHeader: headers.host })
  )
  return returnFieldsByFieldId ? withFieldIds(table, served) : served
})

/** The names of the tables, fields and views, and their ids, without the tables whose files cannot be read. */
const schema = Effect.fnUntraced(function* (folder: TableFolder) {
  const views = yield* folder.views
  const tables = yield* Effect.forEach(yield* folder.names, (name) =>
    folder.find(name).pipe(
      Effect.catchTag("vitrine/InvalidTableFile", () => Effect.succeedNone),
      Effect.map(Option.toArray)
    )
  )
  return tables.flat().map((table) => ({
    id: tableId(table.name),
    name: table.name,
    primaryFieldId: fieldId(table.name, table.fieldNames[0] ?? ""),
    fields: fieldsOf(table),
    views: [...viewsOf(views, table.name).keys()].map((view) => ({
      id: viewId(table.name, view),
      name: view,
      type: "grid"
    }))
  }))
})
