/**
 * A table source of decoded options, over the client of the environment.
 *
 * Talking to the API belongs to the client, versions to the content plugin.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import { ofPlain } from "../../../internal/optionSchemas.ts"
import { TableSourceClient } from "../../../services/TableSourceClient.ts"
import { makeDocumentSource } from "../../documents/makeDocumentSource.ts"
import type { FileOptions } from "../../documents/media/SourceFiles.ts"
import * as Attachments from "./Attachments.ts"
import { makePolling } from "./pollChanges.ts"
import { columnsOf } from "./SavedRecords.ts"
import { sourceStatus } from "./sourceStatus.ts"
import type { TableSourceOptions } from "./TableSourceOptions.ts"
import { makeTableDocuments, warnOfNoTables } from "./tableDocuments.ts"
import { attachmentSchema, tableSchemas } from "./tableSchemas.ts"

export type Environment = FileSystem.FileSystem | Path.Path | TableSourceClient

interface Options extends TableSourceOptions, Omit<FileOptions, "maxTimeout"> {
  /**
   * Where the API is. Local addresses are refused to links and redirects, but for its own host; where it is not known, for that of
   * the link.
   */
  readonly endpointUrl?: string
}

export const makeSource = Effect.fnUntraced(function* (options: Options) {
  const { defaultView: view, endpointUrl, id, maxAttachmentBytes, wholeEvery } = options
  yield* warnOfNoTables(options)
  const client = yield* TableSourceClient
  const { attachments: format, calls, changes } = client
  const cells = Attachments.make(format)
  const polling = changes && (yield* makePolling(id, ofPlain(wholeEvery), changes))
  const attachment = attachmentSchema(options, format)

  return yield* makeDocumentSource({
    options,
    open: () => Effect.map(makeTableDocuments(options, client), (documents) => ({ documents })),
    lasting: cells.withoutVolatileParts,
    tables: { view, isAttachment: Attachments.isAttachment(format), fieldsOf: columnsOf },
    maxAttachment: { value: maxAttachmentBytes, option: "maxAttachmentBytes" },
    ...(endpointUrl === undefined ? {} : { url: endpointUrl }),
    ...(polling && { poll: polling.poll }),
    schema: Effect.succeed(tableSchemas(options, attachment)),
    data: sourceStatus(calls, polling)
  })
})
