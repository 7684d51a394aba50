/**
 * A small content system: `GET /shelves/NAME?start=0&count=100` gives
 * `{ "total": 2, "items": [{ "key": "1", "values": { … } }] }`.
 */
import { once } from "node:events"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { Effect } from "effect"

export interface Item {
  readonly key: string
  readonly values: Readonly<Record<string, unknown>>
}

/** Serves shelves until the scope ends. */
export const startShelfServer = ({ token, maxCount = 100 }: { token: string; maxCount?: number }) =>
  Effect.gen(function* () {
    const shelves = new Map<string, ReadonlyArray<Item>>()

    const respond = (authorization: string | undefined, { pathname, searchParams }: URL) => {
      const [, , shelf = ""] = pathname.split("/").map(decodeURIComponent)
      const items = shelves.get(shelf)
      if (authorization !== `Bearer ${token}`) return [401, { message: "wrong token" }] as const
      if (items === undefined) return [404, { message: "no such shelf" }] as const
      const start = Number(searchParams.get("start"))
      const count = Math.min(Number(searchParams.get("count")), maxCount)
      return [200, { total: items.length, items: items.slice(start, start + count) }] as const
    }

    const server = createServer(({ headers, url = "/" }, response) => {
      const [status, body] = respond(headers.authorization, new URL(url, "http://localhost"))
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body))
    })
    yield* Effect.acquireRelease(
      Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
      () =>
        Effect.sync(() => {
          server.close()
          server.closeAllConnections()
        })
    )
    const { port } = server.address() as AddressInfo
    return {
      url: `http://127.0.0.1:${port}`,
      setShelf: (name: string, items: ReadonlyArray<Item>) => Effect.sync(() => shelves.set(name, items))
    }
  })
