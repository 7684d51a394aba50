/**
 * A client of the hosted table API over HTTP: the tables of a base, and their changes.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { InvalidOptions } from "../../../internal/Options.ts"
import type { RequestPacing } from "../../../services/RequestPacing.ts"
import {
  type AttachmentFormat,
  type PageRequest,
  type RecordRequest,
  TableSourceClient
} from "../../../services/TableSourceClient.ts"
import { decodePage, decodeRecord, makeApi } from "./api.ts"
import { makeChangeFeed } from "./changeFeed.ts"
import { type AirtableClientConfig, type AirtableClientOptions, decodeClient } from "./TableSourceOptions.ts"

export type { AirtableClientConfig } from "./TableSourceOptions.ts"

/**
 * The client of one base. Its requests wait for their turn in the pacing of the process.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  config: AirtableClientConfig
): Layer.Layer<TableSourceClient, InvalidOptions, HttpClient.HttpClient | RequestPacing> =>
  Layer.effect(TableSourceClient, make(config))

/**
 * The same with options from the environment, `{ apiKey: Config.redacted("TABLE_API_KEY"), … }`.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  config: Config.Config.Wrap<AirtableClientConfig>
): Layer.Layer<TableSourceClient, InvalidOptions | ConfigError, HttpClient.HttpClient | RequestPacing> =>
  Layer.effect(TableSourceClient, Effect.flatMap(Config.unwrap(config), make))

/**
 * The same without a layer.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  config: AirtableClientConfig
): Effect.Effect<typeof TableSourceClient.Service, InvalidOptions, HttpClient.HttpClient | RequestPacing> =>
  Effect.flatMap(decodeClient(config), fromOptions)

/** As `make`, for decoded options. @internal */
export const fromOptions = Effect.fnUntraced(function* (options: AirtableClientOptions) {
  const api = yield* makeApi(options)
  const { ask, askForOne, calls, quote, unexpected } = api

  // Not `Effect.fn`: its stack traces take a tenth of the time of a page.
  const listPage = Effect.fnUntraced(
    function* (request: PageRequest) {
      const { offset, records } = yield* ask(request, decodePage)
      if (offset === undefined || offset === null || offset === "") {
        return { records }
      }
      if (offset === request.cursor) {
        const quoted = quote(JSON.stringify(offset))
        return yield* unexpected(request, `the list does not go on after the offset ${quoted}`)
      }
      return { records, next: offset }
    },
    Effect.withSpan("TableSourceClient.listPage", { captureStackTrace: false })
  )

  const readRecord = Effect.fn("TableSourceClient.readRecord")(function* (request: RecordRequest) {
    const record = yield* askForOne(request, decodeRecord)
    return record.id === request.recordId
      ? record
      : yield* unexpected(
          request,
          `a request for the record ${quote(request.recordId)} returned the record ${quote(record.id)}`
        )
  })

  return TableSourceClient.of({
    listPage,
    readRecord,
    attachments,
    calls,
    changes: options.changes && makeChangeFeed(api, options)
  })
})

/**
 * An attachment in a cell; a linked record may have columns with the same names. Addresses and thumbnails are signed
 * anew for every listing, so they are not part of the content.
 *
 * @since 0.1.0
 * @category utils
 */
export const attachments: AttachmentFormat = {
  read: ({ filename, id, size, url }) =>
    Predicate.isString(id) && !id.startsWith("rec") && Predicate.isString(url) && Predicate.isString(filename)
      ? Option.some({ id, url, filename, size: Option.liftPredicate(size, isSize) })
      : Option.none(),
  lastingFields: new Set(["id", "filename", "size", "type", "width", "height"]),
  fields: { id: Schema.String, filename: Schema.String }
}

const isSize = (size: unknown): size is number => Number.isSafeInteger(size) && Number(size) >= 0
