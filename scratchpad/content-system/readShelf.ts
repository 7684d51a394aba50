/**
 * Reads a shelf page by page, and reports failures.
 */
import { Effect, Option, Redacted, Schema, Stream } from "effect"
import { DocumentSource } from "vitrine"
import type { ShelfOptions } from "./ShelfOptions.ts"

/** A shelf cannot be read. */
export class ShelfError extends Schema.TaggedError<ShelfError>()("ShelfError", {
  shelf: Schema.String,
  detail: Schema.String,
  isTransient: Schema.Boolean
}) {
  override get message() {
    return `Shelf "${this.shelf}": ${this.detail}`
  }
}

const Values = Schema.Record({ key: Schema.String, value: Schema.Unknown })
const Item = Schema.Struct({ key: Schema.String, values: Values })
const Page = Schema.Struct({ total: Schema.NonNegativeInt, items: Schema.Array(Item) })

const pageSize = 100

/** A shelf as a document. It is requested when the document is saved. */
export const readShelf = (
  requests: DocumentSource.Requests,
  { token, url }: Pick<ShelfOptions, "token" | "url">,
  shelf: string
): DocumentSource.Document<ShelfError> => {
  const address = `${url}/shelves/${encodeURIComponent(shelf)}`
  const headers = { authorization: `Bearer ${Redacted.value(token)}` }
  const failed = (detail: string, isTransient = false) => new ShelfError({ shelf, detail, isTransient })

  const readPage = Effect.fnUntraced(function* (start: number) {
    const { json } = yield* requests
      .getJson(`${address}?start=${start}&count=${pageSize}`, headers)
      .pipe(Effect.mapError((error) => failed(adviceOf(error), error.isTransient)))
    const { items, total } = yield* Schema.decodeUnknown(Page)(json).pipe(
      Effect.mapError(() => failed('what "url" gives is no list of items'))
    )
    const end = start + items.length
    if (items.length === 0 && end < total) {
      return yield* failed(`it ends after ${end} of ${total} items`, true)
    }
    const records = items.map(({ key, values }) => ({ ...values, id: key }))
    return [records, end < total ? Option.some(end) : Option.none()] as const
  })

  return {
    name: shelf,
    url: address,
    content: DocumentSource.Records({ pages: Stream.paginateEffect(0, readPage) })
  }
}

/** Advice for a failed request, by somebody who knows the server. */
const adviceOf = ({ message, status }: DocumentSource.RequestFailed): string => {
  switch (status) {
    case 401:
      return 'the server does not accept "token"'
    case 404:
      return 'the server has none of this name; check "shelves"'
  }
  return message
}
