/**
 * The client of the hosted table API, as a layer for programs that put it together themselves.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { InvalidOptions } from "../../services/Options.ts"
import type { RequestPacing } from "../../services/RequestPacing.ts"
import type { TableSourceClient } from "../../services/TableSourceClient.ts"
import * as TableSourceClientHttp from "./TableSourceClientHttp.ts"
import { decodeClient, type TableClientConfig } from "./TableSourceOptions.ts"

export const layer = (
  config: TableClientConfig
): Layer.Layer<TableSourceClient, InvalidOptions, HttpClient.HttpClient | RequestPacing> =>
  Layer.unwrapEffect(Effect.map(decodeClient(config), TableSourceClientHttp.layer))
