/**
 * Content that is kept in tables, over any client (docs/wire.md, section 2.8).
 *
 * ```
 * <source id>/<table>.json                               an array of records, or the object of a key/value table
 * <source id>/attachments/<attachment id>/<file name>    the files in the cells
 * ```
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { InvalidOptions } from "../../../internal/Options.ts"
import { ContentSource } from "../../../services/ContentSource.ts"
import { type Environment, makeSource } from "./makeSource.ts"
import { decode, type TableSourceConfig } from "./TableSourceOptions.ts"

export type { FieldExpectations, FieldType } from "../../documents/expect/ExpectConfig.ts"
export type { FieldSchema, TableExpectation } from "../../documents/expect/ExpectOptions.ts"
export type { Environment, TableSourceConfig }

/** The source over any client. For several sources in a program there is `make`. */
export const layer = (
  config: TableSourceConfig
): Layer.Layer<ContentSource, InvalidOptions, Environment | HttpClient.HttpClient> =>
  Layer.scoped(ContentSource, make(config))

/** The source over any client, without a layer. */
export const make = (
  config: TableSourceConfig
): Effect.Effect<ContentSource, InvalidOptions, Environment | HttpClient.HttpClient | Scope.Scope> =>
  Effect.flatMap(decode(config), makeSource)
