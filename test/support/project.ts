/**
 * A user's project in a temporary folder: `vitrine` installed, tables, a configuration.
 */
import { chmodSync, cpSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as TableServer from "./tableServer.ts"
import { type Options, runVitrine } from "./vitrineProcess.ts"

const repository = fileURLToPath(new URL("../..", import.meta.url))

/** The package where every user may read it, which they may not where the repository is in somebody's home. */
const readablePackage = Effect.acquireRelease(
  Effect.sync(() => {
    const folder = mkdtempSync(join(tmpdir(), "vitrine-package-"))
    chmodSync(folder, 0o755)
    // What the bundles load as it is installed, too.
    for (const name of [
      "package.json",
      "dist",
      "src/layers/dashboard/page",
      "node_modules/commander",
      "node_modules/jiti",
      "node_modules/neverthrow"
    ]) {
      cpSync(join(repository, name), join(folder, name), { recursive: true })
    }
    return folder
  }),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

export const objectsCsv = "inventory,title\nA-1,Astrolabe\nA-2,Barometer\n"

const makeProjectWith = Effect.fnUntraced(function* (packageFolder: string) {
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
    options: Pick<Options, "by" | "onTerminal" | "uid"> = {}
  ) => runVitrine(args, { bin: join(packageFolder, "dist/bin.cjs"), cwd: folder, env, ...options })

  /** Serves the project's tables from this process, and returns the address. */
  const serveTables = (options: TableServer.Options = {}) =>
    TableServer.start(`${folder}/tables`, options).pipe(
      Effect.map(({ url }) => url),
      Logger.withMinimumLogLevel(LogLevel.Warning),
      Effect.provide(NodeContext.layer)
    )
  return { folder, write, read, list, run, serveTables }
})

/** The project, with a configuration that takes its ports, address and table names from the environment. */
export const makeProject = Effect.suspend(() => makeProjectWith(repository))

/** The same, with a package that programs of another user can load. */
export const makeProjectForOthers = Effect.flatMap(readablePackage, makeProjectWith)

/** The address of the transport that a controller prints when it starts. */
export const transportUrl = /HTTP transport on (http:\S+): /
