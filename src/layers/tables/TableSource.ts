/**
 * The table source: content that is kept in the tables of a hosted base (specification, section 2.8).
 *
 * ```
 * <source id>/<table>.json                               an array of records, or the object of a key/value table
 * <source id>/attachments/<attachment id>/<file name>    the files in the cells
 * ```
 *
 * It owns what is saved and under which name. Talking to the API belongs to the client, versions to the content
 * plugin. Attachments wait until all lists are read: a list that nobody goes on with is soon forgotten.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Path from "@effect/platform/Path"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import {
  type ContentSource,
  type ContentSourceDefinition,
  type FetchTarget,
  SourceFailed
} from "../../services/ContentSource.ts"
import { type InvalidOptions, issuesOf } from "../../services/Options.ts"
import { TableSourceClient } from "../../services/TableSourceClient.ts"
import { WaitObserver } from "../../services/WaitObserver.ts"
import { apartFromSpan } from "../apartFromSpan.ts"
import { fileName } from "../FileName.ts"
import * as AttachmentFiles from "./AttachmentFiles.ts"
import { makeAttachmentPaths, type PathOf } from "./AttachmentPaths.ts"
import { fingerprint } from "./Fingerprint.ts"
import { countAttachments, countRequests, countWaits } from "./metrics.ts"
import { saveKeyValues, saveRecords } from "./SavedTable.ts"
import { makeSourceProgressTeller, type SourceProgressTeller } from "./SourceProgressTeller.ts"
import { readTable } from "./TableReader.ts"
import * as TableSourceClientHttp from "./TableSourceClientHttp.ts"
import {
  decode,
  decodeSelection,
  idOf,
  type TableSelection,
  type TableSelectionConfig,
  type TableSourceConfig,
  type TableSourceOptions
} from "./TableSourceOptions.ts"
import { makeTableWarnings, warnOfNoTables } from "./tableWarnings.ts"

/** A source of content for the content plugin's `sources`. */
export const tableSource = (config: TableSourceConfig): ContentSourceDefinition => {
  const decoded = decode(config)
  return {
    id: idOf(config),
    issues: issuesOf(decoded),
    make: Effect.flatMap(decoded, (options) =>
      Effect.provideServiceEffect(makeSource(options), TableSourceClient, TableSourceClientHttp.make(options))
    )
  }
}

export class TableSource extends Context.Tag("vitrine/TableSource")<TableSource, ContentSource>() {}

/** The source over any client. For several sources in a program there is `make`. */
export const layer = (
  config: TableSelectionConfig
): Layer.Layer<TableSource, InvalidOptions, Environment | HttpClient.HttpClient> =>
  Layer.effect(TableSource, make(config))

/** The source over any client, without a layer. */
export const make = (
  config: TableSelectionConfig
): Effect.Effect<ContentSource, InvalidOptions, Environment | HttpClient.HttpClient> =>
  Effect.flatMap(decodeSelection(config), makeSource)

type Environment = FileSystem.FileSystem | Path.Path | TableSourceClient

/** `endpointUrl` is where the client's API is, if it is known: see `AttachmentFiles.make`. */
type Selection = TableSelection & Partial<Pick<TableSourceOptions, "endpointUrl">>

const makeSource = (selection: Selection) =>
  Effect.updateService(makeUncounted(selection), TableSourceClient, countRequests(selection.id))

const makeUncounted = Effect.fnUntraced(function* ({
  appendLocalAttachmentPaths,
  defaultView,
  endpointUrl,
  id,
  keyValueTables,
  maxAttachmentBytes,
  maxTimeout,
  tables
}: Selection) {
  yield* warnOfNoTables({ id, tables, keyValueTables })
  const environment = yield* apartFromSpan(Effect.context<Environment>())

  const attachmentFiles = yield* AttachmentFiles.make({
    endpointUrl: Option.fromNullable(endpointUrl),
    maxAttachmentBytes,
    maxTimeout
  })

  const warn = makeTableWarnings()

  const fetchTable = Effect.fn("TableSource.fetchTable")(function* (
    table: string,
    save: typeof saveRecords,
    pathOf: PathOf,
    directory: string,
    progress: SourceProgressTeller
  ) {
    yield* Effect.annotateCurrentSpan("table", table)
    const path = yield* Path.Path
    const name = `${fileName(table)}.json`
    const target = {
      table,
      path: path.join(directory, name),
      progress: (records: number) => progress.tell({ document: table, records }),
      pathOf,
      appendLocalAttachmentPaths
    }
    yield* target.progress(0)
    const { warnings, ...saved } = yield* readTable({ table, view: defaultView }, (pages) =>
      save(target, pages)
    )
    yield* warn(table, warnings)
    progress.documentDone()
    yield* Effect.annotateCurrentSpan("records", saved.records)
    return { ...saved, name, table }
  })

  const fetchAll = Effect.fnUntraced(function* (
    { directory, previous }: FetchTarget,
    progress: SourceProgressTeller
  ) {
    const pathOf = makeAttachmentPaths()
    const files = yield* Effect.all([
      ...tables.map((table) => fetchTable(table, saveRecords, pathOf, directory, progress)),
      ...keyValueTables.map((table) => fetchTable(table, saveKeyValues, pathOf, directory, progress))
    ])
    const records = new Map(files.map(({ records, table }) => [table, records]))
    const { attachments, complete } = yield* attachmentFiles.fetchAll(
      files.flatMap(({ attachments }) => attachments),
      {
        directory,
        previous,
        progress: ({ table }, attachments) =>
          progress.tell({ document: table, records: records.get(table) ?? 0, attachments })
      }
    )
    return {
      fingerprint: fingerprint(files),
      records: files.reduce((sum, { records }) => sum + records, 0),
      bytes: files.reduce((sum, { bytes }) => sum + bytes, attachments.bytes),
      attachments,
      complete,
      isPreviousDamaged:
        Option.isSome(previous) &&
        (attachments.reused < attachments.total || !(yield* hasAll(previous.value, files)))
    }
  })

  /** Whether the folder has the files of all tables; their sizes differ with the links in them. */
  const hasAll = Effect.fnUntraced(function* (
    folder: string,
    files: ReadonlyArray<{ readonly name: string }>
  ) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    return yield* Effect.every(files, ({ name }) => fs.exists(path.join(folder, name))).pipe(
      Effect.orElseSucceed(() => false)
    )
  })

  const fetch = Effect.fn("TableSource.fetch")(function* (target: FetchTarget) {
    yield* Effect.annotateCurrentSpan("source", id)
    const progress = makeSourceProgressTeller(tables.length + keyValueTables.length, target.progress)
    const fetched = yield* fetchAll(target, progress).pipe(
      Effect.provideService(WaitObserver, countWaits(id, progress))
    )
    const { attachments, bytes, records } = fetched
    yield* countAttachments(id, attachments)
    yield* Effect.annotateCurrentSpan({ records, bytes, attachments: attachments.total })
    return fetched
  })

  const ofSource = <A, E extends { readonly isTransient: boolean }, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(
      Effect.mapError((cause) => new SourceFailed({ sourceId: id, cause, isTransient: cause.isTransient })),
      Effect.annotateLogs("source", id),
      Effect.provide(environment)
    )
  const source: ContentSource = {
    id,
    fetch: (target) =>
      Effect.map(ofSource(fetch(target)), ({ complete, ...fetched }) => ({
        ...fetched,
        complete: ofSource(complete)
      }))
  }
  return source
})
