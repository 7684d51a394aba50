/**
 * A source of content in the tables of a hosted base.
 */
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { idOf } from "../../../files/fileName.ts"
import { issuesOf } from "../../../internal/Options.ts"
import type { ContentSourceDefinition } from "../../../services/ContentSource.ts"
import type { EffectSchema } from "../../documents/DocumentConfig.ts"
import { fileFields } from "../../documents/media/MediaOptions.ts"
import * as AirtableClient from "./AirtableClient.ts"
import type * as Config from "./TableConfig.ts"
import * as TableSource from "./TableSource.ts"
import { AirtableTableOptions, decodeSource } from "./TableSourceOptions.ts"

export const AirtableSourceOptions = Schema.Struct({ ...AirtableTableOptions.fields, ...fileFields })

/**
 * The options as a user writes them.
 *
 * @since 0.1.0
 * @category models
 */
export interface TableSourceConfig
  extends Config.TableSourceConfig<string | Redacted.Redacted, EffectSchema> {
  // A member, because the compiler has no name for options without own members.
  readonly id: string
}

export const decode = decodeSource(AirtableSourceOptions)

/**
 * A source of content for the content plugin's `sources`.
 *
 * @since 0.1.0
 * @category constructors
 */
export const tableSource = (config: TableSourceConfig): ContentSourceDefinition => {
  const decoded = decode(config)
  return {
    id: idOf(config),
    issues: issuesOf(decoded),
    make: Effect.flatMap(decoded, (options) =>
      Effect.provide(
        TableSource.fromOptions(options),
        AirtableClient.layer(Struct.pick(options, "apiKey", "baseId", "changes", "endpointUrl", "maxTimeout"))
      )
    )
  }
}
