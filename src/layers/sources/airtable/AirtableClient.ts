/**
 * A client of the hosted table API over HTTP.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { InvalidOptions } from "../../../internal/Options.ts"
import type { RequestPacing } from "../../../services/RequestPacing.ts"
import { TableSourceClient } from "../../../services/TableSourceClient.ts"
import { type AirtableClientConfig, decodeClient } from "./AirtableOptions.ts"
import { makeTableClient } from "./tableClient.ts"

export type { AirtableClientConfig } from "./AirtableOptions.ts"
export { attachments } from "./tableClient.ts"

/** The client of one base. Its requests take their turn in the pacing of the process. */
export const layer = (
  config: AirtableClientConfig
): Layer.Layer<TableSourceClient, InvalidOptions, HttpClient.HttpClient | RequestPacing> =>
  Layer.effect(TableSourceClient, make(config))

/** The same with options from the environment, `{ apiKey: Config.redacted("TABLE_API_KEY"), … }`. */
export const layerConfig = (
  config: Config.Config.Wrap<AirtableClientConfig>
): Layer.Layer<TableSourceClient, InvalidOptions | ConfigError, HttpClient.HttpClient | RequestPacing> =>
  Layer.effect(TableSourceClient, Effect.flatMap(Config.unwrap(config), make))

/** The same without a layer. */
export const make = (
  config: AirtableClientConfig
): Effect.Effect<typeof TableSourceClient.Service, InvalidOptions, HttpClient.HttpClient | RequestPacing> =>
  Effect.flatMap(decodeClient(config), makeTableClient)
