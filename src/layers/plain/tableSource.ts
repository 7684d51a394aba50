/**
 * The tables of a hosted base as a source of a plain controller. Documents are returned instead of saved.
 *
 * It owns the order in which tables are read, and the failures of tables that no caller awaits.
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
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { fileName, idOf } from "../../files/fileName.ts"
import type { RequestPacing } from "../../services/RequestPacing.ts"
import { SourceError } from "../../services/SourceError.ts"
import { TableSourceClient } from "../../services/TableSourceClient.ts"
import { catchTooDeep, type Document, type Keys } from "../documents/Document.ts"
import { type Expectations, makeExpectations, requireExpected } from "../documents/expect/Expectations.ts"
import type { TableCheck } from "../documents/expect/TableCheck.ts"
import { linkRecords } from "../documents/linkRecords.ts"
import { makeSayWarnings, notice, placed, within, withWarnings } from "../documents/warnings.ts"
import { readAgain } from "../documents/wholeList.ts"
import * as HttpClientNode from "../httpClient/HttpClientNode.ts"
import * as RequestPacingMemory from "../memory/RequestPacingMemory.ts"
import * as AirtableClient from "../sources/tables/AirtableClient.ts"
import { isAttachment } from "../sources/tables/Attachments.ts"
import type { PlainSourceConfig } from "../sources/tables/TableConfig.ts"
import { decodePlain, type TableSourceOptions } from "../sources/tables/TableSourceOptions.ts"
import {
  columnsOf,
  failedInTable,
  linkedTable,
  type SourceTable,
  tableDocument,
  tablesOf,
  warnOfNoTables
} from "../sources/tables/tableDocuments.ts"
import { checkFetchContext } from "./CheckContext.ts"
import type { PlainFetchContext, TableDocument, TableSource } from "./plainController.ts"
import { withPlainLogger } from "./plainLogger.ts"

/**
 * A source of content for plain controllers: the tables of a hosted base.
 *
 * @since 0.1.0
 * @category constructors
 */
export const tableSource = (options: PlainSourceConfig): TableSource => {
  const documents = Either.map(decodePlain(options), (decoded) =>
    makeTableDocuments(decoded, AirtableClient.fromOptions(decoded))
  )
  return {
    id: idOf(options),
    fetch: (context) => Either.getOrThrowWith(Either.ap(documents, checkFetchContext(context)), identity)
  }
}

/** Returns the documents of a source. The client reads them again each time. */
const makeTableDocuments = (
  options: Omit<TableSourceOptions, "wholeEvery">,
  client: Effect.Effect<typeof TableSourceClient.Service, never, HttpClient.HttpClient | RequestPacing>
): ((context: PlainFetchContext) => ReadonlyArray<TableDocument>) => {
  const { id } = options
  const say = makeSayWarnings()
  const warnOnce = Effect.runSync(Effect.once(warnOfNoTables(options)))

  return (context) => {
    const documents = tablesOf(options).map(makeDocument)
    const signal = context.abortSignal

    const fetching = warnOnce.pipe(
      Effect.zipRight(withWarnings(readAll(documents, options))),
      Effect.flatMap(([, warnings]) => say(warnings)),
      Effect.provideServiceEffect(TableSourceClient, client),
      Effect.provide(HttpClientNode.layer),
      Effect.provide(RequestPacingMemory.layerShared),
      Effect.mapError((cause) => new SourceError({ source: id, cause })),
      Effect.onError((cause) => Effect.forEach(documents, ({ fail }) => fail(cause))),
      withPlainLogger(context),
      // The caller gets the error: without this, the fiber that read the page would log it, too.
      Effect.withUnhandledErrorLogLevel(Option.none())
    )
    void Effect.runPromiseExit(fetching, { signal })
    return documents.map(({ settled, table }) => ({ id: fileName(table), data: unwrap(settled, signal) }))
  }
}

interface Checked {
  readonly check: Option.Option<TableCheck>
  readonly data: unknown
}

/** A document that settles when it is read, or when the fetch fails. */
const makeDocument = (source: SourceTable) => {
  const settled = Deferred.unsafeMake<unknown, SourceError>(FiberId.none)
  return {
    ...source,
    settled: Deferred.await(settled),
    succeed: (data: unknown) => Deferred.succeed(settled, data),
    fail: (cause: Cause.Cause<SourceError>) => Deferred.failCause(settled, cause)
  }
}

type Options = Omit<TableSourceOptions, "wholeEvery">

/** Settles the documents, one after the other. */
const readAll = Effect.fnUntraced(function* (
  documents: ReadonlyArray<ReturnType<typeof makeDocument>>,
  options: Options
) {
  const client = yield* TableSourceClient
  const { defaultView: view, expect, links } = options
  const expectations = makeExpectations(expect, { view, isAttachment: isAttachment(client.attachments) })
  const linked = yield* linkRecords(
    links,
    {
      documents: documents.map((source) =>
        expectations.leaveOut(tableDocument(source, options, client), Object.keys(links), columnsOf)
      ),
      linked: (table) => linkedTable(table, options, client)
    },
    failedInTable
  )
  for (const [index, document] of documents.entries()) {
    const content = linked.documents[index]
    if (content === undefined) continue
    yield* document.succeed(yield* read(content, document.holds, expectations))
  }
  yield* linked.end
})

const unwrap = (settled: Effect.Effect<unknown, SourceError>, signal: AbortSignal): Promise<unknown> => {
  const data = Effect.runPromiseExit(settled).then(
    Exit.getOrElse((cause): unknown => {
      throw Cause.isInterruptedOnly(cause) ? signal.reason : Cause.squash(cause)
    })
  )
  // The caller gets the error, too.
  data.catch(() => {})
  return data
}

/** There is no version before to compare with. */
const read = Effect.fnUntraced(function* <E>(
  { content, name }: Document<E>,
  holds: SourceTable["holds"],
  { begin, end }: Expectations
) {
  const readRecords = (pages: Stream.Stream<ReadonlyArray<unknown>, E>) =>
    Effect.suspend(() => {
      const check = begin({ name }, holds)
      const data: Array<unknown> = []
      return Stream.runForEach(pages, (page) =>
        Effect.sync(() => {
          for (const record of page) {
            if (Option.isSome(check) && Predicate.isReadonlyRecord(record)) {
              check.value.add(columnsOf(record), () => ({ id: String(record.id) }))
            }
            data.push(record)
          }
        })
      ).pipe(Effect.as<Checked>({ check, data }))
    })

  const readKeys = ({ recordOf, value }: Keys): Checked => {
    const check = begin({ name }, holds)
    if (Option.isSome(check)) check.value.add(value, (key) => ({ id: recordOf(key) }))
    return { check, data: value }
  }

  const read: Effect.Effect<Checked, E> =
    content._tag === "Keys"
      ? Effect.map(content.keys, readKeys)
      : readRecords(
          content._tag === "Records"
            ? content.pages
            : Stream.mapConcat(content.value, (value) => [[value].flat()])
        )
  const [{ check, data }, warnings] = yield* catchTooDeep(failedInTable(name))(readAgain(withWarnings(read)))
  yield* notice(warnings.map(placed({ name, kind: "table" })).map(within(name)))
  yield* requireExpected([yield* end({ name }, check, Effect.succeedNone)])
  return data
})
