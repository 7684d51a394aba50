/**
 * A plugin: serves a folder of tables as long as the controller runs.
 */
import { resolve } from "node:path"
import { Effect } from "effect"
import type { Plugin } from "vitrine"
import { serveTables, urlOf } from "./serveTables.ts"

export const tableServer = (options: {
  readonly directory: string
  readonly port: number
}): Plugin.Plugin => ({
  name: "table-server",
  issues: [],
  setup: ({ cwd }) =>
    Effect.gen(function* () {
      const directory = resolve(cwd, options.directory)
      const server = yield* Effect.acquireRelease(
        Effect.tryPromise(() => serveTables(directory, options.port)),
        (server) =>
          Effect.sync(() => {
            server.close()
            server.closeAllConnections()
          })
      )
      yield* Effect.logInfo(`Serving the tables of ${directory} at ${urlOf(server)}`)
      return Effect.void
    })
})
