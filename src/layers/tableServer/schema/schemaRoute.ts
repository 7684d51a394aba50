/**
 * `GET /v0/meta/bases/{baseId}/tables`: the names of the tables, fields and views, and their ids.
 */
import * as HttpRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type ApiDependencies, apiRequest } from "../apiRequest.ts"
import { viewsOf } from "../records/Views.ts"
import { fieldId, tableId, viewId } from "../tables/identifiers.ts"
import type { TableFolder } from "../tables/TableFolder.ts"
import { fieldsOf } from "./fields.ts"

export const schemaRoute = (dependencies: ApiDependencies & { readonly folder: TableFolder }) =>
  HttpRouter.add(
    "GET",
    "/v0/meta/bases/:baseId/tables",
    Effect.flatMap(HttpRouter.params, ({ baseId = "" }) =>
      apiRequest(
        dependencies,
        baseId,
        { kind: "schema" },
        Effect.map(schema(dependencies.folder), (tables) => HttpServerResponse.unsafeJson({ tables }))
      )
    )
  )

/** Without the tables whose files cannot be read. */
const schema = (folder: TableFolder) =>
  Effect.gen(function* () {
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
