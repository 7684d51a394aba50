/**
 * The types of a project with the package installed: a page is compiled against those of its content, and a column of another name is
 * a mistake; mistakes in the configuration name the options.
 */
import { join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import { expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { compile } from "../support/compile.ts"
import { environment, Installed } from "../support/installed.ts"
import { runVitrine } from "../support/vitrineProcess.ts"

const configuration = (field: string) => `import { content, defineConfig, folderSource } from "vitrine"
export default defineConfig({
  plugins: [
    content({
      sources: [
        folderSource({ id: "exhibits", directory: "content", expect: { Objects: { fields: { ${field}: "text" } } } })
      ]
    })
  ]
})
`

const page = `import { connect, type Content } from "vitrine/client"
import { connect as connectPreview } from "vitrine/client/preview"

type Item = Content["exhibits"]["Objects"][number]
const titles = (objects: ReadonlyArray<Item>) => objects.map(({ title }) => title.toUpperCase())
connect({ load: async (version) => titles(await version.table("exhibits", "Objects")) })
connectPreview({ load: async (version) => titles(await version.table("exhibits", "Objects")) })
`

const script = `/// <reference types="vitrine/client.global.js" />
vitrine.connect({
  load: async (version) => (await version.table("exhibits", "Objects")).length,
  show: (count) => document.title = count.toFixed()
})
`

const settings = (module: string, moduleResolution: string, include: ReadonlyArray<string>) =>
  JSON.stringify({
    compilerOptions: {
      module,
      moduleResolution,
      target: "es2022",
      lib: ["es2022", "dom", "dom.iterable"],
      types: [],
      strict: true,
      skipLibCheck: true,
      noEmit: true
    },
    include
  })

/** The mistake, and how the compiler names what it is in. */
const mistakes = [
  [`tableSource({ id: "a", baseId: "b", apiKey: "c", table: ["Objects"] })`, "TableSourceConfig"],
  [`tableSource({ id: "a", apiKey: "c", tables: ["Objects"] })`, "TableSourceConfig"],
  [`folderSource({ id: "a", directory: "b", keey: { a: "id" } })`, "FolderSourceConfig"],
  [`jsonSource({ id: "a", document: {} })`, "JsonSourceConfig"],
  [`strapiSource({ id: "a", url: "b", typs: {} })`, "StrapiSourceConfig"],
  [`sanitySource({ id: "a", project: "b", dataset: "c", querys: {} })`, "SanitySourceConfig"],
  [`source({ id: "a", fetsh: () => ({}) })`, "SourceConfig"],
  [`httpTransport({ prot: 8710 })`, "HttpTransportConfig"],
  [`content({ sources: [], fetchEvry: 5 })`, "ContentConfig"],
  [`contentServer({ sites: "page" })`, "ContentServerConfig"],
  [`replica({ form: "http://hub:8730" })`, "ReplicaConfig"],
  [`dashboard({ maxage: 5 })`, "DashboardConfig"],
  [`defineConfig({ plugin: [] })`, "ConfigurationFile"]
] as const

layer(environment, { excludeTestServices: true, timeout: 240_000 })("vitrine types", (it) => {
  it.scoped("writes types that pages compile with, and updates them for a renamed column", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* Installed
      const write = (name: string, text: string) => fs.writeFileString(join(folder, name), text)
      const vitrine = (...args: ReadonlyArray<string>) =>
        runVitrine(args, { bin: join(folder, "node_modules/vitrine/dist/bin.cjs"), cwd: folder })
      const compiled = (module: string, moduleResolution: string, ...files: ReadonlyArray<string>) =>
        Effect.as(
          write("tsconfig.json", settings(module, moduleResolution, ["vitrine.d.ts", ...files])),
          folder
        ).pipe(Effect.map(compile))
      yield* fs.makeDirectory(join(folder, "content"))
      yield* write("content/Objects.csv", "id,title\n1,Bell\n")
      yield* write("vitrine.config.ts", configuration("title"))
      yield* write("page.ts", page)
      yield* write("script.ts", script)

      const watching = yield* vitrine("types", "--watch")
      yield* watching.shown(/made {3}vitrine\.d\.ts/)
      expect(yield* compiled("esnext", "bundler", "page.ts", "script.ts")).toBe("")
      expect(yield* compiled("nodenext", "nodenext", "page.ts")).toBe("")

      const before = yield* fs.readFileString(join(folder, "vitrine.d.ts"))
      yield* write("vitrine.config.ts", configuration("name"))
      yield* watching.shown(/made(.|\n)*made/)
      expect(yield* fs.readFileString(join(folder, "vitrine.d.ts"))).not.toBe(before)
      expect(yield* compiled("esnext", "bundler", "page.ts")).toMatch(
        /\/page\.ts\(5,65\): error TS2339: Property 'title' does not exist on type .*\n$/
      )
      yield* watching.signal("SIGTERM")
      expect(yield* watching.ended).toMatchObject({ status: 0, stderr: "" })
    })
  )

  it.scoped("names the options that have a mistake", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = join(yield* Installed, "mistakes")
      yield* fs.makeDirectory(folder)
      const names = new Set(mistakes.map(([call]) => call.replace(/\(.*/, "")))
      const lines = [`import { ${[...names].join(", ")} } from "vitrine"`, ...mistakes.map(([call]) => call)]
      yield* fs.writeFileString(join(folder, "vitrine.config.ts"), `${lines.join("\n")}\n`)
      yield* fs.writeFileString(
        join(folder, "tsconfig.json"),
        settings("nodenext", "nodenext", ["vitrine.config.ts"])
      )
      const said = compile(folder)
      const types = new Map(
        said.split(/^(?=\S)/m).map((mistake) => {
          const [, line] = /\.ts\((\d+),/.exec(mistake) ?? []
          const [, type] = /(?:in type|of type|required in type) '([^']*)'(?!.* in type)/s.exec(mistake) ?? []
          return [Number(line), type]
        })
      )
      expect(mistakes.map((_, index) => types.get(index + 2))).toEqual(mistakes.map(([, type]) => type))
      expect(said).not.toMatch(/\bany\b|Redacted<|Config</)
    })
  )
})
