/**
 * The tables of a hosted base, and what changes in them.
 */
import * as Effect from "effect/Effect"
import {
  type PageRequest,
  type RecordRequest,
  TableSourceClient
} from "../../../services/TableSourceClient.ts"
import type { AirtableClientOptions } from "./AirtableOptions.ts"
import { makeApi } from "./api.ts"
import { attachments } from "./attachments.ts"
import { makeChangeFeed } from "./changeFeed.ts"
import { decodePage, decodeRecord } from "./responses.ts"
import { sharedFeed } from "./sharedFeeds.ts"

/** A client of decoded options. Its requests take their turn in the pacing of the process. */
export const makeTableClient = Effect.fnUntraced(function* (options: AirtableClientOptions) {
  const api = yield* makeApi(options)
  const { ask, askForOne, calls, errors } = api
  const { quote } = errors

  // Not `Effect.fn`: its stack traces take a tenth of the time of a page.
  const listPage = Effect.fnUntraced(
    function* (request: PageRequest) {
      const page = yield* ask(request, decodePage)
      const { offset } = page
      const records = page.records.map(({ fields, id }) => ({ id, fields }))
      if (offset === undefined || offset === null || offset === "") {
        return { records }
      }
      if (offset === request.cursor) {
        const quoted = quote(JSON.stringify(offset))
        return yield* errors.unexpected(request, `the list does not go on after the offset ${quoted}`)
      }
      return { records, next: offset }
    },
    Effect.withSpan("TableSourceClient.listPage", { captureStackTrace: false })
  )

  const readRecord = Effect.fn("TableSourceClient.readRecord")(function* (request: RecordRequest) {
    const record = yield* askForOne(request, decodeRecord)
    return record.id === request.recordId
      ? record
      : yield* errors.unexpected(
          request,
          `asked for the record ${quote(request.recordId)}, it gave ${quote(record.id)}`
        )
  })

  return TableSourceClient.of({
    listPage,
    readRecord,
    attachments,
    calls,
    ...(options.changes === undefined
      ? {}
      : { changes: makeChangeFeed(api, options, yield* sharedFeed(options)) })
  })
})
