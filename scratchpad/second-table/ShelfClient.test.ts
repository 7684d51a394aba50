/**
 * The client does what every client of tables does.
 */
import { NodeHttpClient } from "@effect/platform-node"
import { Effect, Layer, Redacted } from "effect"
import { tableSourceClientContract } from "vitrine/testing"
import * as ShelfClient from "./ShelfClient.ts"
import { startShelfServer } from "./shelfServer.ts"

tableSourceClientContract(
  "ShelfClient",
  ({ pageSize }) =>
    Effect.gen(function* () {
      const { failNext, setShelf, url } = yield* startShelfServer({ token: "secret" })
      const http = yield* Layer.build(NodeHttpClient.layer)
      const options = { url, token: Redacted.make("secret"), pageSize }
      return {
        client: yield* Effect.provide(ShelfClient.make(options), http),
        setTable: (table, records) =>
          setShelf(
            table,
            records.map(({ fields, id }) => ({ key: id, values: fields }))
          ),
        failNext: ({ status = 500 }) => failNext(status),
        delayNext: () => failNext(503),
        removeView: () => Effect.void,
        expireCursors: Effect.void
      }
    }),
  { waits: { failure: 1000 }, views: false, cursorsExpire: false }
)
