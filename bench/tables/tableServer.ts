/**
 * The table server of the tests, which serves all peers.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as TableServer from "../../test/support/tableServer/TableServer.ts"
import { answer } from "../processes.ts"
import { apiKey, type Requests, type TableServerApi, view } from "./protocol.ts"

let requests: Effect.Effect<Requests>

answer<TableServerApi>({
  start: async ({ directory, rateLimit, tables }) => {
    const runtime = ManagedRuntime.make(
      Layer.provide(TableServer.layer({ directory, port: 0, rateLimit }), NodeContext.layer)
    )
    const server = await runtime.runPromise(TableServer.TableServer)
    const url = `http://127.0.0.1:${server.address.port}`
    // A request to another base does not count towards the limit.
    for (const table of tables) {
      const response = await fetch(`${url}/v0/appWarmUp/${table}?view=${encodeURIComponent(view)}`, {
        headers: { authorization: `Bearer ${apiKey}` }
      })
      await response.text()
    }
    requests = Effect.map(server.requests, ({ attachments, rateLimited, tables: counts, ...others }) => {
      const pages = Object.values(counts).reduce((sum, count) => sum + count, 0) - tables.length
      const calls = pages + others.payloads + others.webhooks + others.schema
      return { pages, calls, attachments, refused: rateLimited }
    })
    return url
  },
  requests: () => Effect.runPromise(requests),
  cpu: () => {
    const { system, user } = process.cpuUsage()
    return (user + system) / 1000
  }
})
