/**
 * A source of content that is kept in the tables of a hosted base.
 */
import * as Effect from "effect/Effect"
import { issuesOf } from "../../../internal/Options.ts"
import type { ContentSourceDefinition } from "../../../services/ContentSource.ts"
import { TableSourceClient } from "../../../services/TableSourceClient.ts"
import { withFiles } from "../../media/fileOptions.ts"
import { makeSource } from "../tableSource/makeSource.ts"
import { idOf } from "../tableSource/TableSourceOptions.ts"
import { type AirtableSourceConfig, decode } from "./AirtableOptions.ts"
import { makeTableClient } from "./tableClient.ts"

/** A source of content for the content plugin's `sources`. */
export const tableSource = (config: AirtableSourceConfig): ContentSourceDefinition => {
  const decoded = decode(config)
  return {
    id: idOf(config),
    issues: issuesOf(decoded),
    make: Effect.flatMap(decoded, (options) =>
      Effect.flatMap(
        Effect.provideServiceEffect(makeSource(options), TableSourceClient, makeTableClient(options)),
        withFiles(options, { url: options.endpointUrl })
      )
    )
  }
}
