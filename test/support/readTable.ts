import * as Effect from "effect/Effect"
import { type ListChanged, readAgain } from "../../src/layers/documents/wholeList.ts"
import { type Pages, pagesOf, type TableRequest } from "../../src/layers/sources/tables/tableDocuments.ts"
import { TableSourceClient } from "../../src/services/TableSourceClient.ts"

/** Gives the pages of a table to `use`, which is run again where the server forgets the list. */
export const readTable = <A, E, R>(
  request: TableRequest,
  use: (pages: Pages) => Effect.Effect<A, E | ListChanged, R>
) =>
  Effect.flatMap(TableSourceClient, (client) =>
    readAgain(Effect.suspend(() => use(pagesOf(client, request))))
  )
