/**
 * A client of another hosted table API: its shelves are tables, its items are records.
 *
 * A server that fails or cannot be reached is asked three times, a second apart. There are no views, and a list may be
 * read on at any time: a cursor is the number of the next item.
 */
import { HttpClient, HttpClientRequest, HttpClientResponse } from "@effect/platform"
import { Effect, Layer, type ParseResult, Predicate, type Redacted, Schedule, Schema } from "effect"
import { TableSourceClient } from "vitrine"

export interface ShelfClientOptions {
  readonly url: string
  readonly token: Redacted.Redacted
  /** How many records are in a page. Default 100. */
  readonly pageSize?: number
}

const Item = Schema.Struct({
  key: Schema.String,
  values: Schema.declare((values): values is Readonly<Record<string, unknown>> => Predicate.isRecord(values))
})
const Items = Schema.Struct({ total: Schema.NonNegativeInt, items: Schema.Array(Item) })

const toRecord = ({ key, values }: typeof Item.Type) => ({ id: key, fields: values })

export const layer = (options: ShelfClientOptions) =>
  Layer.effect(TableSourceClient.TableSourceClient, make(options))

export const make = ({ pageSize = 100, token, url }: ShelfClientOptions) =>
  Effect.map(HttpClient.HttpClient, (http) => {
    const get = <A, I>(table: string, path: string, schema: Schema.Schema<A, I>) => {
      const fail = (
        reason: TableSourceClient.TableError["reason"],
        detail: string,
        rest: { readonly status?: number; readonly cause?: unknown } = {}
      ) => new TableSourceClient.TableError({ table, reason, detail, ...rest })

      const request = HttpClientRequest.get(`${url}/shelves/${encodeURIComponent(table)}${path}`).pipe(
        HttpClientRequest.bearerToken(token)
      )
      const decode = (response: HttpClientResponse.HttpClientResponse) => {
        const { status } = response
        return status === 200
          ? HttpClientResponse.schemaBodyJson(schema)(response).pipe(
              Effect.catchTag("ParseError", (cause: ParseResult.ParseError) =>
                fail("UnexpectedAnswer", "the response is no item and no list of items", { status, cause })
              )
            )
          : fail(reasonOf(status), `the server rejects ${path} with status ${status}`, { status })
      }
      return http.execute(request).pipe(
        Effect.flatMap(decode),
        Effect.scoped,
        Effect.catchTags({
          RequestError: (cause) => fail("Unreachable", "the server cannot be reached", { cause }),
          ResponseError: (cause) => fail("Unreachable", "the connection broke", { cause })
        }),
        Effect.timeoutFail({
          duration: "30 seconds",
          onTimeout: () => fail("Timeout", "no response in 30 seconds")
        }),
        Effect.retry({
          schedule: Schedule.spaced("1 second"),
          times: 2,
          while: ({ reason }) => ["Unreachable", "Timeout", "ServerError"].includes(reason)
        })
      )
    }

    return TableSourceClient.TableSourceClient.of({
      listPage: ({ cursor = "0", table, view }) => {
        const start = Number(cursor)
        return view === null
          ? Effect.map(get(table, `?start=${start}&count=${pageSize}`, Items), ({ items, total }) => {
              const end = start + items.length
              const page = { records: items.map(toRecord) }
              return end < total ? { ...page, next: String(end) } : page
            })
          : Effect.fail(
              new TableSourceClient.TableError({
                table,
                reason: "NotFound",
                detail: `there is no view ${JSON.stringify(view)}`
              })
            )
      },
      readRecord: ({ recordId, table }) =>
        Effect.map(get(table, `/${encodeURIComponent(recordId)}`, Item), toRecord)
    })
  })

const reasonOf = (status: number): TableSourceClient.TableError["reason"] =>
  status === 401 || status === 403
    ? "Unauthorized"
    : status === 404
      ? "NotFound"
      : status === 429
        ? "RateLimited"
        : status >= 500
          ? "ServerError"
          : "Refused"
