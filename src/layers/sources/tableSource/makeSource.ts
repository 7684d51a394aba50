/**
 * A table source of decoded options, over the client of the environment.
 *
 * Talking to the API belongs to the client, versions to the content plugin.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import { ofPlain } from "../../../internal/duration.ts"
import { withoutParentSpan } from "../../../internal/withoutParentSpan.ts"
import type { ContentSource, FetchTarget } from "../../../services/ContentSource.ts"
import { TableSourceClient } from "../../../services/TableSourceClient.ts"
import { WaitObserver } from "../../../services/WaitObserver.ts"
import { makeProgressReporter } from "../../documents/progressReporter.ts"
import { sourceFailed } from "../../documents/sourceAnswers.ts"
import type { AttachmentOptions } from "./AttachmentFiles.ts"
import { makeFetchTables, type Step, tablesOf } from "./fetchTables.ts"
import { countAttachments, countRequests, countWaits } from "./metrics.ts"
import { makePolling } from "./pollChanges.ts"
import { makeSourceStatus } from "./sourceStatus.ts"
import type { TableSourceOptions } from "./TableSourceOptions.ts"
import { attachmentSchema, tableSchemas } from "./tableSchemas.ts"
import { warnOfNoTables } from "./tableWarnings.ts"

export type Environment = FileSystem.FileSystem | Path.Path | TableSourceClient

export const makeSource = (options: TableSourceOptions & AttachmentOptions) =>
  Effect.updateService(makeUncounted(options), TableSourceClient, countRequests(options.id))

const makeUncounted = Effect.fnUntraced(function* (options: TableSourceOptions & AttachmentOptions) {
  const { id } = options
  yield* warnOfNoTables(options)
  const environment = yield* withoutParentSpan(Effect.context<Environment>())
  const { attachments: format, calls, changes, schema } = yield* TableSourceClient
  const tables = tablesOf(options)
  const fetchTables = yield* makeFetchTables(options)
  const names = tables.map(({ table }) => table)
  const polling = changes === undefined ? undefined : makePolling(names, ofPlain(options.wholeEvery), changes)
  const { countWhole, data, polled } = makeSourceStatus(calls, polling)

  const fetch = Effect.fn("TableSource.fetch")(function* (target: FetchTarget) {
    yield* Effect.annotateCurrentSpan("source", id)
    const progress = makeProgressReporter<Step>(tables.length, target.progress)
    const fetching = fetchTables(target, progress).pipe(
      Effect.provideService(WaitObserver, countWaits(id, progress))
    )
    const fetched = yield* target.changedParts === undefined ? countWhole(fetching) : fetching
    const { attachments, bytes, records } = fetched
    yield* countAttachments(id, attachments)
    yield* Effect.annotateCurrentSpan({ records, bytes, attachments: attachments.total })
    return fetched
  })

  const attachment = attachmentSchema(options, format)
  const baseTables =
    schema === undefined || options.tables.length === 0
      ? Effect.succeed([])
      : Effect.catchAll(schema(attachment), ({ detail }) =>
          Effect.as(Effect.logWarning(`What fields the tables have cannot be asked: ${detail}`), [])
        )

  const source: ContentSource = {
    id,
    fetch: (target) =>
      fetch(target).pipe(
        Effect.mapError(sourceFailed(id)),
        Effect.annotateLogs("source", id),
        Effect.provide(environment)
      ),
    ...(polling === undefined
      ? {}
      : {
          poll: (cursor) => Effect.annotateLogs(Effect.zipLeft(polling.poll(cursor), polled), "source", id)
        }),
    schema: Effect.map(baseTables, (known) => tableSchemas(options, attachment, known)).pipe(
      Effect.annotateLogs("source", id)
    ),
    data
  }
  return source
})
