import * as Effect from "effect/Effect"
import {
  type Pages,
  pagesOf,
  type TableRequest,
  withRestarts
} from "../../src/layers/sources/tables/tableDocuments.ts"
import { type CursorExpired, TableSourceClient } from "../../src/services/TableSourceClient.ts"

/** Gives the pages of a table to `use`, which is run again where the server forgets the list. */
export const readTable = <A, E, R>(
  request: TableRequest,
  use: (pages: Pages) => Effect.Effect<A, E | CursorExpired, R>
) =>
  Effect.flatMap(TableSourceClient, (client) =>
    withRestarts(request.table)(Effect.suspend(() => use(pagesOf(client, request))))
  )
