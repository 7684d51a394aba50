/**
 * The work of a table source, of decoded options.
 *
 * It owns what is saved and under which name. Talking to the API belongs to the client, versions to the content
 * plugin. Attachments wait until all lists are read: a list that nobody goes on with is soon forgotten.
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { fileName } from "../../../internal/FileName.ts"
import { fingerprint } from "../../../internal/fingerprint.ts"
import { ofPlain } from "../../../internal/lengthOfTime.ts"
import { makeProgressReporter, type ProgressReporter } from "../../../internal/progressReporter.ts"
import { linkOrCopy } from "../../../internal/reuseFile.ts"
import { explain } from "../../../internal/systemError.ts"
import { withoutParentSpan } from "../../../internal/withoutParentSpan.ts"
import {
  type ContentSource,
  type FetchTarget,
  SourceFailed,
  type SourceProgress
} from "../../../services/ContentSource.ts"
import { TableSourceClient } from "../../../services/TableSourceClient.ts"
import { WaitObserver } from "../../../services/WaitObserver.ts"
import * as AttachmentCells from "./AttachmentCells.ts"
import * as AttachmentFiles from "./AttachmentFiles.ts"
import { makeAttachmentPaths, type PathOf } from "./AttachmentPaths.ts"
import { callsRow, makeSavings, perPeriod } from "./apiCalls.ts"
import { compareTable } from "./compareTables.ts"
import { makeExpectations } from "./Expectations.ts"
import { makeEmptyTables } from "./emptyTables.ts"
import { makeKnownTables, type NamedTable } from "./knownTables.ts"
import { makeLook } from "./lookForChanges.ts"
import { countAttachments, countRequests, countWaits } from "./metrics.ts"
import { NotAsExpected, requireExpected } from "./NotAsExpected.ts"
import { saveKeyValues, saveRecords } from "./SavedTable.ts"
import { TableNotSaved } from "./TableNotSaved.ts"
import { readTable } from "./TableReader.ts"
import type { TableSourceOptions } from "./TableSourceOptions.ts"
import { makeTableWarnings, warningText, warnOfNoTables } from "./tableWarnings.ts"

/** How a table is saved, and what it holds. */
interface TableKind {
  readonly save: typeof saveRecords
  readonly holds: "records" | "keys"
}

const recordTable: TableKind = { save: saveRecords, holds: "records" }
const keyValueTable: TableKind = { save: saveKeyValues, holds: "keys" }

type SourceProgressReporter = ProgressReporter<Step>

/** What a part of a fetch knows. */
type Step = Pick<SourceProgress, "document" | "records" | "attachments">

export type Environment = FileSystem.FileSystem | Path.Path | TableSourceClient

/** `endpointUrl` is where the client's API is, if it is known: see `AttachmentFiles.make`. */
interface Options extends TableSourceOptions {
  readonly endpointUrl?: string
}

/** A source over the client of the environment. */
export const makeSource = (options: Options) =>
  Effect.updateService(makeUncounted(options), TableSourceClient, countRequests(options.id))

const makeUncounted = Effect.fnUntraced(function* ({
  appendLocalAttachmentPaths,
  defaultView,
  endpointUrl,
  expect,
  id,
  keyValueTables,
  maxAttachmentBytes,
  maxTimeout,
  tables,
  wholeEvery
}: Options) {
  yield* warnOfNoTables({ id, tables, keyValueTables })
  const environment = yield* withoutParentSpan(Effect.context<Environment>())

  const attachmentFiles = yield* AttachmentFiles.make({
    endpointUrl: Option.fromNullable(endpointUrl),
    maxAttachmentBytes,
    maxTimeout
  })

  const client = yield* TableSourceClient
  const format = client.attachments
  const cells = AttachmentCells.make(format)
  const expectations = makeExpectations({ defaultView, expect })
  const warn = makeTableWarnings()
  const emptyTables = makeEmptyTables()
  const calls = client.calls ?? Effect.succeed({ today: 0, month: 0, total: 0 })
  const savings = makeSavings()

  const fetchTable = Effect.fn("TableSource.fetchTable")(function* (
    table: string,
    { holds, save }: TableKind,
    pathOf: PathOf,
    { directory, previous }: FetchTarget,
    progress: SourceProgressReporter
  ) {
    yield* Effect.annotateCurrentSpan("table", table)
    const path = yield* Path.Path
    const name = `${fileName(table)}.json`
    const target = {
      table,
      path: path.join(directory, name),
      progress: (records: number) => progress.report({ document: table, records }),
      cells,
      pathOf,
      appendLocalAttachmentPaths
    }
    yield* target.progress(0)
    const { check, ...saved } = yield* readTable({ table, view: defaultView }, (pages) => {
      const check = expectations.begin(table, holds, format)
      const add = Option.map(check, ({ add }) => add)
      return Effect.map(save({ ...target, check: add }, pages), (saved) => ({ ...saved, check }))
    })
    const verdict = yield* expectations.end(check, previous, name, holds)
    const emptied = emptyTables.warnings({ table, name, bytes: saved.bytes }, previous)
    const warnings = [...saved.warnings, ...(verdict.violations.length === 0 ? emptied : [])]
    yield* warn(table, warnings)
    progress.documentDone()
    yield* Effect.annotateCurrentSpan("records", saved.records)
    return { ...saved, name, table, warnings, verdict }
  })

  const knownTables = makeKnownTables<Effect.Effect.Success<ReturnType<typeof fetchTable>>>()

  /** Links its file, which has not changed. */
  const takeTable = Effect.fnUntraced(function* <A extends NamedTable>(
    { from, known }: { readonly from: string; readonly known: A },
    directory: string,
    progress: SourceProgressReporter
  ) {
    const { name, table } = known
    const path = yield* Path.Path
    yield* Effect.mapError(
      linkOrCopy(path.join(from, name), path.join(directory, name)),
      (cause) => new TableNotSaved({ table, detail: `cannot take over ${name}: ${explain(cause)}`, cause })
    )
    progress.documentDone()
    return known
  })

  const fetchAll = Effect.fnUntraced(function* (target: FetchTarget, progress: SourceProgressReporter) {
    const { changedParts, directory, previous } = target
    const pathOf = makeAttachmentPaths()
    const known = knownTables.of(previous)
    for (const attachment of known.attachments) {
      pathOf(attachment)
    }

    const takeOrFetch = (table: string, kind: TableKind) =>
      Option.match(changedParts?.includes(table) === false ? known.table(table) : Option.none(), {
        onNone: () => fetchTable(table, kind, pathOf, target, progress),
        onSome: (known) => takeTable(known, directory, progress)
      })

    const files = yield* Effect.all([
      ...tables.map((table) => takeOrFetch(table, recordTable)),
      ...keyValueTables.map((table) => takeOrFetch(table, keyValueTable))
    ])
    yield* requireExpected(files.map(({ verdict }) => verdict))
    const records = new Map(files.map(({ records, table }) => [table, records]))
    const content = fingerprint(files)
    const { attachments, digests } = yield* attachmentFiles.fetchAll(
      files.flatMap(({ attachments }) => attachments),
      {
        directory,
        previous,
        isUnchanged: Option.exists(previous, ({ fingerprint }) => Option.contains(fingerprint, content)),
        progress: ({ table }, attachments) =>
          progress.report({ document: table, records: records.get(table) ?? 0, attachments })
      }
    )
    knownTables.add(content, files)
    const warnings = files.flatMap(({ table, warnings }) =>
      warnings.map((warning) => warningText(table, warning))
    )
    return {
      ...(warnings.length === 0 ? {} : { warnings }),
      fingerprint: content,
      records: files.reduce((sum, { records }) => sum + records, 0),
      bytes: files.reduce((sum, { bytes }) => sum + bytes, attachments.bytes),
      attachments,
      digests: { ...Object.fromEntries(files.map(({ name, sha256 }) => [name, sha256])), ...digests }
    }
  })

  const fetch = Effect.fn("TableSource.fetch")(function* (target: FetchTarget) {
    yield* Effect.annotateCurrentSpan("source", id)
    const callsBefore = (yield* calls).total
    const progress = makeProgressReporter<Step>(tables.length + keyValueTables.length, target.progress)
    const fetched = yield* fetchAll(target, progress).pipe(
      Effect.provideService(WaitObserver, countWaits(id, progress))
    )
    const { attachments, bytes, records } = fetched
    if (target.changedParts === undefined) {
      savings.wholeRead((yield* calls).total - callsBefore)
    }
    yield* countAttachments(id, attachments)
    yield* Effect.annotateCurrentSpan({ records, bytes, attachments: attachments.total })
    return fetched
  })

  const ofSource = <A, E extends { readonly isTransient: boolean }, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(
      Effect.mapError(
        (cause) =>
          new SourceFailed({
            sourceId: id,
            cause,
            isTransient: cause.isTransient,
            ...(cause instanceof NotAsExpected ? { violations: cause.violations } : {})
          })
      ),
      Effect.annotateLogs("source", id),
      Effect.provide(environment)
    )
  const feed = client.changes
  const watching =
    feed === undefined ? undefined : makeLook([...tables, ...keyValueTables], ofPlain(wholeEvery), feed)

  const rows = Effect.gen(function* () {
    const without = watching === undefined ? Option.none() : Option.some(yield* savings.counts)
    return [
      ...(watching === undefined ? [] : [watching.row()]),
      ...(client.calls === undefined ? [] : [callsRow(yield* calls, without)])
    ]
  })

  const data = Effect.gen(function* () {
    return {
      ...(client.calls === undefined ? {} : { calls: perPeriod(yield* calls) }),
      ...(watching === undefined
        ? {}
        : { changes: watching.data(), callsWithoutLooks: perPeriod(yield* savings.counts) })
    }
  })

  const source: ContentSource = {
    id,
    fetch: (target) => ofSource(fetch(target)),
    compare: (target) =>
      ofSource(
        Effect.all([
          ...tables.map((table) => compareTable({ table, holds: recordTable.holds }, target, cells)),
          ...keyValueTables.map((table) => compareTable({ table, holds: keyValueTable.holds }, target, cells))
        ])
      ),
    ...(watching === undefined
      ? {}
      : {
          look: (mark) => Effect.annotateLogs(Effect.zipLeft(watching.look(mark), savings.look), "source", id)
        }),
    rows,
    data
  }
  return source
})
