/**
 * Content in tables, over any client (docs/wire.md, section 2.8).
 *
 * ```
 * <source id>/<table>.json                               an array of records, or the object of a key/value table
 * <source id>/attachments/<attachment id>/<file name>    the files in the cells
 * ```
 *
 * The client owns the requests to the API; the content plugin owns versions.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClient from "@effect/platform/HttpClient"
import type * as Path from "@effect/platform/Path"
import * as Config from "effect/Config"
import type { ConfigError } from "effect/ConfigError"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import type { InvalidOptions } from "../../../internal/Options.ts"
import { ofPlain } from "../../../internal/optionSchemas.ts"
import { ContentSource } from "../../../services/ContentSource.ts"
import type { TableSourceData } from "../../../services/Slices.ts"
import { type CallCounts, TableSourceClient } from "../../../services/TableSourceClient.ts"
import * as DocumentSource from "../../documents/DocumentSource.ts"
import type { FileOptions } from "../../documents/media/SourceFiles.ts"
import * as Attachments from "./Attachments.ts"
import { makePolling, type Polling } from "./pollChanges.ts"
import { decode, type TableSourceOptions, type TablesConfig } from "./TableSourceOptions.ts"
import {
  columnsOf,
  linkedTable,
  tableDocument,
  tableSchemas,
  tablesOf,
  warnOfNoTables
} from "./tableDocuments.ts"

export type { FieldExpectations, FieldType } from "../../documents/DocumentConfig.ts"
export type { FieldSchema, TableExpectation } from "../../documents/expect/ExpectOptions.ts"
export type { TablesConfig }

/**
 * The services of a table source: files, and the client of its base.
 *
 * @since 0.1.0
 * @category models
 */
export type Environment = FileSystem.FileSystem | Path.Path | TableSourceClient

/**
 * The source over any client. Use `make` for several sources in a program.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  config: TablesConfig
): Layer.Layer<ContentSource, InvalidOptions, Environment | HttpClient.HttpClient> =>
  Layer.scoped(ContentSource, make(config))

/**
 * The same with options from the environment.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerConfig = (
  config: Config.Config.Wrap<TablesConfig>
): Layer.Layer<ContentSource, InvalidOptions | ConfigError, Environment | HttpClient.HttpClient> =>
  Layer.scoped(ContentSource, Effect.flatMap(Config.unwrap(config), make))

/**
 * The source over any client, without a layer.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  config: TablesConfig
): Effect.Effect<ContentSource, InvalidOptions, Environment | HttpClient.HttpClient | Scope.Scope> =>
  Effect.flatMap(decode(config), fromOptions)

interface Options extends TableSourceOptions, Omit<FileOptions, "maxTimeout"> {
  /**
   * The address of the API: links and redirects may lead to its host, even if it is local. Default the host of the
   * link.
   */
  readonly endpointUrl?: string
}

/** As `make`, for decoded options. @internal */
export const fromOptions = Effect.fnUntraced(function* (options: Options) {
  const { defaultView: view, endpointUrl, maxAttachmentBytes, wholeEvery } = options
  yield* warnOfNoTables(options)
  const client = yield* TableSourceClient
  const { attachments: format, calls, changes } = client
  const polling = changes && (yield* makePolling(ofPlain(wholeEvery), changes))

  return yield* DocumentSource.make({
    options,
    open: () =>
      Effect.succeed({
        documents: tablesOf(options).map((table) => tableDocument(table, options, client)),
        linked: (table) => linkedTable(table, options, client),
        reader: Attachments.makeReader(options, client)
      }),
    lasting: Attachments.makeLasting(options.links, format),
    hasFixedPaths: true,
    tables: { view, isAttachment: Attachments.isAttachment(format), fieldsOf: columnsOf },
    maxAttachment: { value: maxAttachmentBytes, option: "maxAttachmentBytes" },
    url: endpointUrl,
    poll: polling?.poll,
    schema: Effect.succeed(tableSchemas(options, format)),
    data: dataOf(calls, polling)
  })
})

/**
 * The data of a table source for the status, beside its fetches: API calls, if they are counted, and why it cannot be
 * asked for changes.
 */
const dataOf = (
  calls: Effect.Effect<CallCounts> | undefined,
  polling: Polling | undefined
): Effect.Effect<TableSourceData> =>
  Effect.gen(function* () {
    const counts = yield* calls ?? Effect.succeed(undefined)
    return {
      calls: counts && { today: counts.today, month: counts.month },
      changes: polling && { problem: Option.getOrUndefined(yield* polling.problem) }
    }
  })
