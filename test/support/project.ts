/**
 * A user's project in a temporary folder: `vitrine` installed, tables, a configuration.
 */
import { fileURLToPath } from "node:url"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as TableServer from "./tableServer.ts"
import { type Options, runVitrine } from "./vitrineProcess.ts"

const packageFolder = fileURLToPath(new URL("../..", import.meta.url))

export const objectsCsv = "inventory,title\nA-1,Astrolabe\nA-2,Barometer\n"

/** The project, with a configuration that takes its ports, address and table names from the environment. */
export const makeProject = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped({ prefix: "vitrine-" }))
  const write = (name: string, content: string) => fs.writeFileString(`${folder}/${name}`, content)
  const read = (name: string) => fs.readFileString(`${folder}/${name}`)
  const list = (name: string) => fs.readDirectory(`${folder}/${name}`)
  yield* fs.makeDirectory(`${folder}/node_modules`)
  yield* fs.symlink(packageFolder, `${folder}/node_modules/vitrine`)
  yield* fs.makeDirectory(`${folder}/tables`)
  yield* write("tables/Objects.csv", objectsCsv)
  yield* write(
    "vitrine.config.ts",
    `import { content, defineConfig, httpTransport, tableSource } from "vitrine"
const { env } = process
export default defineConfig({
  plugins: [
    content({
      fetchEvery: "1 second",
      sources: [
        tableSource({
          id: "museum",
          baseId: "appMuseum",
          apiKey: env.KEY ?? "secret-key",
          endpointUrl: env.TABLES ?? "",
          tables: [env.TABLE ?? "Objects"],
          defaultView: env.VIEW ?? "Grid view"
        })
      ]
    }),
    httpTransport({ port: Number(env.PORT ?? 0) })
  ]
})
`
  )
  const run = (
    args: ReadonlyArray<string>,
    env: Readonly<Record<string, string>> = {},
    options: Pick<Options, "onTerminal" | "uid"> = {}
  ) => runVitrine(args, { cwd: folder, env, ...options })

  /** Serves the project's tables from this process, and gives the address. */
  const serveTables = (options: TableServer.Options = {}) =>
    TableServer.start(`${folder}/tables`, options).pipe(
      Effect.map(({ url }) => url),
      Logger.withMinimumLogLevel(LogLevel.Warning),
      Effect.provide(NodeContext.layer)
    )

  /** The same with `vitrine tables`. */
  const runTables = (...args: ReadonlyArray<string>) =>
    run(["tables", "--port", "0", ...args, "tables"]).pipe(
      Effect.flatMap((server) => server.logged(/ at (http:\S+): /))
    )
  return { folder, write, read, list, run, serveTables, runTables }
})

/** The address of the transport that a controller prints when it starts. */
export const transportUrl = /HTTP transport on (http:\S+): /
