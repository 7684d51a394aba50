/**
 * A table source of decoded options, over the client of the environment.
 *
 * Talking to the API belongs to the client, versions to the content plugin.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import { ofPlain } from "../../../internal/optionSchemas.ts"
import type { ContentSource, FetchTarget } from "../../../services/ContentSource.ts"
import { TableSourceClient } from "../../../services/TableSourceClient.ts"
import { WaitObserver } from "../../../services/WaitObserver.ts"
import { makeDocumentSource } from "../../documents/makeDocumentSource.ts"
import type { FileOptions } from "../../documents/media/SourceFiles.ts"
import * as Attachments from "./Attachments.ts"
import { countAttachments, countRequests, countWaits } from "./metrics.ts"
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

export const makeSource = (options: Options) =>
  Effect.updateService(makeUncounted(options), TableSourceClient, countRequests(options.id))

const makeUncounted = Effect.fnUntraced(function* (options: Options) {
  const { defaultView: view, endpointUrl, id, maxAttachmentBytes, wholeEvery } = options
  yield* warnOfNoTables(options)
  const client = yield* TableSourceClient
  const { attachments: format, calls, changes } = client
  const cells = Attachments.make(format)
  const polling = changes && (yield* makePolling(id, ofPlain(wholeEvery), changes))
  const attachment = attachmentSchema(options, format)

  const source = yield* makeDocumentSource({
    options,
    documents: makeTableDocuments(options, client),
    lasting: cells.withoutVolatileParts,
    tables: { view, isAttachment: Attachments.isAttachment(format), fieldsOf: columnsOf },
    maxAttachment: { value: maxAttachmentBytes, option: "maxAttachmentBytes" },
    ...(endpointUrl === undefined ? {} : { url: endpointUrl }),
    ...(polling && { poll: polling.poll }),
    schema: Effect.succeed(tableSchemas(options, attachment)),
    data: sourceStatus(calls, polling)
  })

  const fetch = Effect.fn("TableSource.fetch")(function* (target: FetchTarget) {
    yield* Effect.annotateCurrentSpan("source", id)
    const outer = yield* WaitObserver
    const fetched = yield* Effect.provideService(source.fetch(target), WaitObserver, countWaits(id, outer))
    const { attachments = noAttachments, bytes, records } = fetched
    yield* countAttachments(id, attachments)
    yield* Effect.annotateCurrentSpan({ records, bytes, attachments: attachments.total })
    return fetched
  })
  return { ...source, fetch } satisfies ContentSource
})

const noAttachments = { total: 0, bytes: 0, reused: 0 }
