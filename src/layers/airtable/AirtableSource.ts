/**
 * A source of content that is kept in the tables of a hosted base: `TableSource` over the client of that base.
 */
import * as Effect from "effect/Effect"
import { issuesOf } from "../../internal/Options.ts"
import type { ContentSourceDefinition } from "../../services/ContentSource.ts"
import { TableSourceClient } from "../../services/TableSourceClient.ts"
import { makeSource } from "../tableSource/makeSource.ts"
import { decode, idOf, type TableSourceConfig } from "../tableSource/TableSourceOptions.ts"
import * as AirtableClient from "./AirtableClient.ts"

/** A source of content for the content plugin's `sources`. */
export const tableSource = (config: TableSourceConfig): ContentSourceDefinition => {
  const decoded = decode(config)
  return {
    id: idOf(config),
    issues: issuesOf(decoded),
    make: Effect.flatMap(decoded, (options) =>
      Effect.provideServiceEffect(makeSource(options), TableSourceClient, AirtableClient.make(options))
    )
  }
}
