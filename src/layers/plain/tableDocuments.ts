/**
 * The tables of a source as documents for a plain controller: what would be saved of them, handed over instead.
 *
 * It owns when tables are read, and what becomes of those that no caller waits for.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { fileName } from "../../internal/FileName.ts"
import { SourceFailed } from "../../services/ContentSource.ts"
import { RequestPacing } from "../../services/RequestPacing.ts"
import { type TableError, type TableRecord, TableSourceClient } from "../../services/TableSourceClient.ts"
import { makeExpectations, type NotAsExpected, requireExpected } from "../documents/expect/Expectations.ts"
import type { TableCheck } from "../documents/expect/TableCheck.ts"
import * as HttpClientNode from "../httpClient/HttpClientNode.ts"
import * as RequestPacingMemory from "../memory/RequestPacingMemory.ts"
import { isAttachment } from "../sources/tableSource/AttachmentCells.ts"
import { keyValues } from "../sources/tableSource/KeyValueTable.ts"
import type { TableNotSaved } from "../sources/tableSource/NotSaved.ts"
import { makeSavedRecords, tryEncode } from "../sources/tableSource/SavedRecords.ts"
import { checkRecords } from "../sources/tableSource/SavedTable.ts"
import { readTable, type TableRequest } from "../sources/tableSource/TableReader.ts"
import type { TableSourceOptions } from "../sources/tableSource/TableSourceOptions.ts"
import { makeTableWarnings, type WarnOfTable, warnOfNoTables } from "../sources/tableSource/tableWarnings.ts"
import type { PlainFetchContext, TableDocument } from "./PlainController.ts"
import { withPlainLogger } from "./plainLogger.ts"

/** Gives the documents of a source, read afresh each time by the client. */
export const makeTableDocuments = (
  options: Omit<TableSourceOptions, "wholeEvery">,
  client: Effect.Effect<typeof TableSourceClient.Service, never, HttpClient.HttpClient | RequestPacing>
): ((context: PlainFetchContext) => ReadonlyArray<TableDocument>) => {
  const { defaultView: view, id, keyValueTables, tables } = options
  const begin: Begin = (table, holds) =>
    Effect.map(TableSourceClient, ({ attachments }) =>
      makeExpectations(options.expect, { view, isAttachment: isAttachment(attachments) }).begin(table, holds)
    )
  const warn = makeTableWarnings()
  const warnOnce = Effect.runSync(Effect.once(warnOfNoTables(options)))

  return (context) => {
    const documents = [
      ...tables.map((table) => makeDocument(table, readRecords({ table, view }, begin, warn))),
      ...keyValueTables.map((table) => makeDocument(table, readKeyValues({ table, view }, begin, warn)))
    ]
    const signal = context.abortSignal

    const reading = warnOnce.pipe(
      Effect.zipRight(Effect.forEach(documents, ({ read }) => read, { discard: true })),
      Effect.provideServiceEffect(TableSourceClient, client),
      Effect.provide(HttpClientNode.layer),
      Effect.provideService(RequestPacing, pacing),
      Effect.mapError((cause) => new SourceFailed({ sourceId: id, cause })),
      Effect.onError((cause) => Effect.forEach(documents, ({ fail }) => fail(cause))),
      withPlainLogger(context),
      // The caller gets the error; the fiber that read the page would say it in the log, too.
      Effect.withUnhandledErrorLogLevel(Option.none())
    )
    void Effect.runPromiseExit(reading, { signal })
    return documents.map(({ settled, table }) => ({ id: fileName(table), data: unwrap(settled, signal) }))
  }
}

/** One for the process: sources of one base share its limit. */
const pacing = Effect.runSync(Effect.provide(RequestPacing, RequestPacingMemory.layer))

type Reading = Effect.Effect<unknown, TableError | TableNotSaved | NotAsExpected, TableSourceClient>

/** A document that is settled when it was read, or when the whole failed. */
const makeDocument = (table: string, read: Reading) => {
  const settled = Deferred.unsafeMake<unknown, SourceFailed>(FiberId.none)
  return {
    table,
    settled: Deferred.await(settled),
    read: Effect.flatMap(read, (data) => Deferred.succeed(settled, data)),
    fail: (cause: Cause.Cause<SourceFailed>) => Deferred.failCause(settled, cause)
  }
}

const unwrap = (settled: Effect.Effect<unknown, SourceFailed>, signal: AbortSignal): Promise<unknown> => {
  const data = Effect.runPromiseExit(settled).then(
    Exit.getOrElse((cause): unknown => {
      throw Cause.isInterruptedOnly(cause) ? signal.reason : Cause.squash(cause)
    })
  )
  // The caller gets it all the same.
  data.catch(() => {})
  return data
}

type Begin = (
  table: string,
  holds: "records" | "keys"
) => Effect.Effect<Option.Option<TableCheck>, never, TableSourceClient>

/** Nothing is known of what was there before. */
const requireOf = (check: Option.Option<TableCheck>) =>
  requireExpected(Option.toArray(check).map(({ end }) => end(Option.none())))

const readRecords = (request: TableRequest, begin: Begin, warn: WarnOfTable): Reading =>
  Effect.gen(function* () {
    const { table } = request
    const { check, data, warnings } = yield* readTable(request, (pages) =>
      Effect.flatMap(begin(table, "records"), (check) => {
        const { add, warnings } = makeSavedRecords(table)
        const data: Array<unknown> = []
        return Stream.runForEach(pages, (page) =>
          Effect.map(add(page), (saved) => {
            if (Option.isSome(check)) checkRecords(check.value.add, page)
            for (const record of saved) data.push(record)
          })
        ).pipe(Effect.map(() => ({ check, data, warnings: warnings() })))
      })
    )
    yield* warn(table, warnings)
    yield* requireOf(check)
    return data
  })

const readKeyValues = (request: TableRequest, begin: Begin, warn: WarnOfTable): Reading =>
  Effect.gen(function* () {
    const { table } = request
    const records = yield* readTable(request, (pages) => {
      const records: Array<TableRecord> = []
      return Stream.runForEach(pages, (page) =>
        Effect.sync(() => {
          for (const record of page) records.push(record)
        })
      ).pipe(Effect.as(records))
    })
    const { recordOf, value, warnings } = yield* Effect.flatten(
      tryEncode(table, () => keyValues(table, records))
    )
    const check = yield* begin(table, "keys")
    if (Option.isSome(check)) check.value.add(value, recordOf)
    yield* warn(table, warnings)
    yield* requireOf(check)
    return value
  })
