/**
 * Fetching the tables of a source into a folder: those that have not changed are taken over from the version before.
 *
 * Attachments wait until all lists are read: a list that is not continued is soon forgotten.
 */
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { fileName } from "../../../internal/FileName.ts"
import { explain } from "../../../internal/systemError.ts"
import type { FetchTarget, SourceProgress } from "../../../services/ContentSource.ts"
import { TableSourceClient } from "../../../services/TableSourceClient.ts"
import { makeExpectations, requireExpected } from "../../documents/expect/Expectations.ts"
import type { CheckedTable } from "../../documents/expect/TableCheck.ts"
import { fingerprint } from "../../documents/fingerprint.ts"
import { makeKnownDocuments, takeOver } from "../../documents/knownDocuments.ts"
import type { ProgressReporter } from "../../documents/progressReporter.ts"
import * as AttachmentCells from "./AttachmentCells.ts"
import * as AttachmentFiles from "./AttachmentFiles.ts"
import { makeAttachmentPaths, type PathOf } from "./AttachmentPaths.ts"
import { TableNotSaved } from "./NotSaved.ts"
import { saveKeyValues, saveRecords } from "./SavedTable.ts"
import { readTable } from "./TableReader.ts"
import type { TableSourceOptions } from "./TableSourceOptions.ts"
import { makeEmptyTables, makeTableWarnings, warningText } from "./tableWarnings.ts"

/** What a part of a fetch knows. */
export type Step = Pick<SourceProgress, "document" | "records" | "attachments">

type Progress = ProgressReporter<Step>

/** A table, and how it is saved. */
export type SourceTable = Pick<CheckedTable, "table" | "holds">

export const tablesOf = ({
  keyValueTables,
  tables
}: Pick<TableSourceOptions, "keyValueTables" | "tables">): ReadonlyArray<SourceTable> => [
  ...tables.map((table) => ({ table, holds: "records" as const })),
  ...keyValueTables.map((table) => ({ table, holds: "keys" as const }))
]

/** Gives what fetches them. It remembers in between what the tables of the latest versions came to. */
export const makeFetchTables = Effect.fnUntraced(function* (
  options: TableSourceOptions & AttachmentFiles.AttachmentOptions
) {
  const attachmentFiles = yield* AttachmentFiles.make(options)
  const { attachments: format } = yield* TableSourceClient
  const cells = AttachmentCells.make(format)
  const expectations = makeExpectations(options.expect, {
    view: options.defaultView,
    isAttachment: AttachmentCells.isAttachment(format)
  })
  const warn = makeTableWarnings()
  const emptyTables = makeEmptyTables()

  const fetchTable = Effect.fn("TableSource.fetchTable")(function* (
    { holds, table }: SourceTable,
    pathOf: PathOf,
    { directory, previous }: FetchTarget,
    progress: Progress
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
      appendLocalAttachmentPaths: options.appendLocalAttachmentPaths
    }
    const save = holds === "records" ? saveRecords : saveKeyValues
    yield* target.progress(0)
    const { check, ...saved } = yield* readTable({ table, view: options.defaultView }, (pages) => {
      const check = expectations.begin(table, holds)
      const add = Option.map(check, ({ add }) => add)
      return Effect.map(save({ ...target, check: add }, pages), (saved) => ({ ...saved, check }))
    })
    const verdict = yield* expectations.end(check, previous, name, holds)
    const emptied = emptyTables.warnings({ table, name, bytes: saved.bytes }, previous)
    const warnings = [...saved.warnings, ...(verdict.violations.length === 0 ? emptied : [])]
    yield* warn(table, warnings)
    progress.documentDone()
    yield* Effect.annotateCurrentSpan("records", saved.records)
    return { ...saved, name, document: table, warnings, verdict }
  })

  const knownTables = makeKnownDocuments<Effect.Effect.Success<ReturnType<typeof fetchTable>>>()

  const fetchFiles = Effect.fnUntraced(function* (target: FetchTarget, pathOf: PathOf, progress: Progress) {
    const known = knownTables.of(target.previous)
    for (const attachment of known.all.flatMap(({ attachments }) => attachments)) {
      pathOf(attachment)
    }
    const files = yield* Effect.forEach(tablesOf(options), (source) =>
      Option.match(
        target.changedParts?.includes(source.table) === false ? known.find(source.table) : Option.none(),
        {
          onNone: () => fetchTable(source, pathOf, target, progress),
          onSome: ({ from, known }) =>
            takeOver(known.name, from, target.directory).pipe(
              Effect.mapError(
                (cause) =>
                  new TableNotSaved({
                    table: known.document,
                    detail: `cannot reuse ${known.name}: ${explain(cause)}`,
                    cause
                  })
              ),
              Effect.tap(() => Effect.sync(() => progress.documentDone())),
              Effect.as(known)
            )
        }
      )
    )
    yield* requireExpected(files.map(({ verdict }) => verdict))
    return files
  })

  return Effect.fnUntraced(function* (target: FetchTarget, progress: Progress) {
    const { directory, previous } = target
    const files = yield* fetchFiles(target, makeAttachmentPaths(), progress)
    const records = new Map(files.map(({ document, records }) => [document, records]))
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
    const warnings = files.flatMap(({ document, warnings }) =>
      warnings.map((warning) => warningText(document, warning))
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
})
