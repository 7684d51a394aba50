/**
 * The tables of a hosted base as a source of a plain controller: what would be saved of them, handed over instead.
 *
 * It owns when tables are read, and what happens to those that no caller waits for.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import { identity } from "effect/Function"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { fileName } from "../../internal/FileName.ts"
import { idOf } from "../../internal/Options.ts"
import { RequestPacing } from "../../services/RequestPacing.ts"
import { SourceError } from "../../services/SourceError.ts"
import { TableSourceClient } from "../../services/TableSourceClient.ts"
import { catchTooDeep } from "../documents/Document.ts"
import { makeExpectations, type NotAsExpected, requireExpected } from "../documents/expect/Expectations.ts"
import type { TableCheck } from "../documents/expect/TableCheck.ts"
import { makeSayWarnings, withWarnings } from "../documents/warnings.ts"
import * as HttpClientNode from "../httpClient/HttpClientNode.ts"
import * as RequestPacingMemory from "../memory/RequestPacingMemory.ts"
import type { PlainSourceConfig } from "../sources/airtable/AirtableConfig.ts"
import { decodePlain } from "../sources/airtable/AirtableOptions.ts"
import { makeTableClient } from "../sources/airtable/tableClient.ts"
import { isAttachment } from "../sources/tableSource/Attachments.ts"
import { type LinkedTables, makeLinkedTables } from "../sources/tableSource/LinkedTables.ts"
import { columnsOf, type SavedRecord, tableNotSaved } from "../sources/tableSource/SavedRecords.ts"
import type { ReadError } from "../sources/tableSource/TableReader.ts"
import type { TableSourceOptions } from "../sources/tableSource/TableSourceOptions.ts"
import {
  collectNothing,
  type SourceTable,
  tableDocument,
  tablesOf,
  warnOfNoTables
} from "../sources/tableSource/tableDocuments.ts"
import { checkFetchContext } from "./checkContext.ts"
import type { PlainFetchContext, TableDocument, TableSource } from "./PlainController.ts"
import { withPlainLogger } from "./plainLogger.ts"

/** A source of content for plain controllers: the tables of a hosted base. */
export const tableSource = (options: PlainSourceConfig): TableSource => {
  const documents = Either.map(decodePlain(options), (decoded) =>
    makeTableDocuments(decoded, makeTableClient(decoded))
  )
  return {
    id: idOf(options),
    fetch: (context) => Either.getOrThrowWith(Either.ap(documents, checkFetchContext(context)), identity)
  }
}

/** Gives the documents of a source, read afresh each time by the client. */
const makeTableDocuments = (
  options: Omit<TableSourceOptions, "wholeEvery">,
  client: Effect.Effect<typeof TableSourceClient.Service, never, HttpClient.HttpClient | RequestPacing>
): ((context: PlainFetchContext) => ReadonlyArray<TableDocument>) => {
  const { id } = options
  const say = makeSayWarnings()
  const warnOnce = Effect.runSync(Effect.once(warnOfNoTables(options)))

  return (context) => {
    const documents = tablesOf(options).map((source) => makeDocument(source.table, read(source, options)))
    const signal = context.abortSignal

    const reading = warnOnce.pipe(
      Effect.zipRight(Effect.flatMap(TableSourceClient, (client) => makeLinkedTables(options, client))),
      Effect.flatMap((linked) => Effect.forEach(documents, ({ read }) => read(linked))),
      Effect.flatMap((warnings) => say(warnings.flat())),
      Effect.provideServiceEffect(TableSourceClient, client),
      Effect.provide(HttpClientNode.layer),
      Effect.provideService(RequestPacing, pacing),
      Effect.mapError((cause) => new SourceError({ source: id, cause })),
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

interface Checked {
  readonly check: Option.Option<TableCheck>
  readonly data: unknown
}

interface Read {
  readonly data: unknown
  readonly warnings: ReadonlyArray<string>
}

type Reading = (linked: LinkedTables) => Effect.Effect<Read, ReadError | NotAsExpected, TableSourceClient>

/** A document that is settled when it was read, or when the whole failed. */
const makeDocument = (table: string, read: Reading) => {
  const settled = Deferred.unsafeMake<unknown, SourceError>(FiberId.none)
  return {
    table,
    settled: Deferred.await(settled),
    read: (linked: LinkedTables) =>
      Effect.flatMap(read(linked), ({ data, warnings }) =>
        Effect.as(
          Deferred.succeed(settled, data),
          warnings.map((warning) => `Table "${table}": ${warning}`)
        )
      ),
    fail: (cause: Cause.Cause<SourceError>) => Deferred.failCause(settled, cause)
  }
}

const unwrap = (settled: Effect.Effect<unknown, SourceError>, signal: AbortSignal): Promise<unknown> => {
  const data = Effect.runPromiseExit(settled).then(
    Exit.getOrElse((cause): unknown => {
      throw Cause.isInterruptedOnly(cause) ? signal.reason : Cause.squash(cause)
    })
  )
  // The caller gets it all the same.
  data.catch(() => {})
  return data
}

/** Nothing is known of what was there before. */
const read = (source: SourceTable, options: Omit<TableSourceOptions, "wholeEvery">): Reading =>
  Effect.fnUntraced(function* (linked) {
    const { holds, table } = source
    const client = yield* TableSourceClient
    const { about, again, content } = tableDocument(source, linked, () => collectNothing)
    const { begin } = makeExpectations(options.expect, {
      view: options.defaultView,
      isAttachment: isAttachment(client.attachments)
    })

    const readRecords = (pages: Stream.Stream<ReadonlyArray<SavedRecord>, ReadError>) =>
      Effect.suspend(() => {
        const check = begin(table, holds)
        const data: Array<SavedRecord> = []
        return Stream.runForEach(pages, (page) =>
          Effect.sync(() => {
            for (const record of page) {
              if (Option.isSome(check)) check.value.add(columnsOf(record), () => String(record.id))
              data.push(record)
            }
          })
        ).pipe(Effect.as({ check, data }))
      })

    const readValue = (value: Effect.Effect<SavedRecord, ReadError>) =>
      Effect.map(value, (data) => {
        const check = begin(table, holds)
        if (Option.isSome(check)) check.value.add(data, about().recordOf ?? (() => undefined))
        return { check, data }
      })

    const reading: Effect.Effect<Checked, ReadError> =
      content._tag === "Records" ? readRecords(content.pages) : readValue(content.value)
    const [{ check, data }, warnings] = yield* catchTooDeep((detail, cause) =>
      tableNotSaved(table, detail, cause)
    )(again(withWarnings(reading)))
    yield* requireExpected(Option.toArray(check).map(({ end }) => end(Option.none())))
    return { data, warnings }
  })
