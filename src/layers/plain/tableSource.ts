/**
 * The tables of a hosted base as a source of a plain controller.
 */
import * as Either from "effect/Either"
import { identity } from "effect/Function"
import { idOf } from "../../internal/Options.ts"
import type { PlainSourceConfig } from "../sources/airtable/AirtableConfig.ts"
import { decodePlain } from "../sources/airtable/AirtableOptions.ts"
import { makeTableClient } from "../sources/airtable/tableClient.ts"
import { checkFetchContext } from "./checkContext.ts"
import type { TableSource } from "./PlainController.ts"
import { makeTableDocuments } from "./tableDocuments.ts"

/** A source of content for plain controllers: the tables of a hosted base. */
export const tableSource = (options: PlainSourceConfig): TableSource => {
  const documents = Either.map(decodePlain(options), (decoded) =>
    makeTableDocuments(decoded, makeTableClient(decoded))
  )
  return {
    id: idOf(options),
    fetch: (context) => Either.getOrThrowWith(Either.ap(documents, checkFetchContext(context)), identity)
  }
}
