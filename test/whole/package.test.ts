/**
 * What `npm install` gives: the packed files, with the dependencies that they name and no others, beside those of the
 * repository.
 */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import { describe, expect, it, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { readTemplate } from "../../src/layers/cli/init.ts"
import { compile, strictly } from "../support/compile.ts"
import { below, codeIn, linksOf, read, repository, rowsOf } from "../support/documents.ts"
import { environment, Installed, install } from "../support/installed.ts"
import { Packed } from "../support/packed.ts"

const { dependencies, devDependencies } = JSON.parse(readFileSync(join(repository, "package.json"), "utf8"))

layer(environment, {
  excludeTestServices: true,
  timeout: 240_000
})("the package", (it) => {
  it.effect("contains the needed files, and no others", () =>
    Effect.map(Packed, ({ paths, size }) => {
      const isDocumentation = (path: string) =>
        /^(docs|scratchpad|deploy)\/|^bench\/README\.md$|^[A-Z]+\.md$/.test(path)
      const others = paths.filter((path) => !isDocumentation(path))
      expect([...new Set(others.map((path) => path.split("/")[0]))].sort()).toEqual([
        "LICENSE",
        "dist",
        "package.json",
        "src",
        "templates"
      ])
      expect(
        others.filter(
          (path) =>
            /^(dist|src)\//.test(path) &&
            !/^dist\/(.*\.(js|d\.ts)|bin\.cjs|NOTICES\.txt|bundle\.json)$/.test(path) &&
            !/^src\/layers\/dashboard\/page\/[\w.]+$/.test(path)
        )
      ).toEqual([])
      expect(paths.filter((path) => /downloads|\.vitrine|\.test\./.test(path))).toEqual([])
      expect(paths.length).toBeLessThan(480)
      expect(size).toBeLessThan(2.6 * 1024 ** 2)
    })
  )

  it.effect("contains every file that its documentation links to", () =>
    Effect.map(Packed, ({ paths }) => {
      const targets = paths
        .filter((path) => path.endsWith(".md"))
        .flatMap((page) =>
          linksOf(page)
            .filter((link) => !link.startsWith("#"))
            .map((link) => join(dirname(page), link.replace(/#.*$/, "")))
        )
      expect(targets.length).toBeGreaterThan(10)
      expect(targets.filter((target) => !paths.includes(target))).toEqual([])
    })
  )

  it.effect("contains the licence of each bundled package", () =>
    Effect.map(Installed, (folder) => {
      const notices = readFileSync(join(folder, "node_modules/vitrine/dist/NOTICES.txt"), "utf8")
      const bundled = new Set([
        "effect",
        "@effect/platform",
        "@effect/platform-node",
        ...Object.keys(dependencies)
      ])
      // What the bundles load as it is installed.
      for (const name of ["commander", "jiti", "neverthrow"]) {
        bundled.delete(name)
      }
      for (const name of bundled) {
        expect(notices).toMatch(
          new RegExp(`^${name} \\d+\\.\\d+\\.\\d+ \\(.+\\)\n\n(?:.*License[^]*?)?Copyright`, "m")
        )
      }
      const licences = rowsOf(below("## Licences", read("docs/it.md"))).flatMap(([licence, names = ""]) =>
        codeIn(names).map((name) => [name, licence])
      )
      const noticed = [...notices.matchAll(/^(\S+) \d+\.\d+\.\d+ \((.+)\)$/gm)].map(([, ...parts]) => parts)
      expect(noticed.length).toBeGreaterThan(bundled.size)
      expect(Object.fromEntries(licences)).toMatchObject(Object.fromEntries(noticed))
    })
  )

  it.effect("can be imported from its modules", () =>
    Effect.map(Installed, (folder) => {
      const program = `
        const { defineConfig, httpTransport } = await import("vitrine")
        const plain = await import("vitrine/plain")
        await import("./node_modules/vitrine/dist/commandLine.js")
        console.log(defineConfig({ plugins: [httpTransport()] }).plugins[0].name, plain.httpTransport().name)`
      const said = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
        cwd: folder,
        encoding: "utf8"
      })
      expect(said).toBe("http-transport http-transport\n")
    })
  )

  it.scoped("gives Vite its plugin without Effect", () =>
    Effect.map(install([...Object.keys(dependencies), "vite"]), (folder) => {
      const program = 'console.log((await import("vitrine/vite")).vitrine().name)'
      const options = { cwd: folder, encoding: "utf8" } as const
      expect(execFileSync(process.execPath, ["--input-type=module", "-e", program], options)).toBe(
        "vitrine\n"
      )
    })
  )

  describe("the types of the package", () => {
    const program = `
import * as Effect from "effect/Effect"
import { content, defineConfig, EventBusMemory, httpTransport, tableSource } from "vitrine"
import { httpTransport as plainTransport, type PlainContext, tableSource as plainSource } from "vitrine/plain"

export default defineConfig({
  plugins: [
    content({ sources: [tableSource({ id: "a", baseId: "b", apiKey: "c", tables: ["Objects"] })] }),
    httpTransport({ port: 0 })
  ]
})

export const setUp = (context: PlainContext) => plainTransport({ port: 0 }).setup(context)
export const id: string = plainSource({ id: "a", baseId: "b", apiKey: "c" }).id
export const bus = Effect.runPromise(Effect.scoped(EventBusMemory.make))
// @ts-expect-error: no port
httpTransport({ port: "8710" })
// @ts-expect-error: no port
plainTransport({ port: "8710" })
`
    const settings = [
      { module: "nodenext", moduleResolution: "nodenext" },
      { module: "esnext", moduleResolution: "bundler" }
    ]
    for (const setting of settings) {
      it.effect(`compile with moduleResolution ${setting.moduleResolution}`, () =>
        Effect.gen(function* () {
          const fs = yield* FileSystem.FileSystem
          const folder = yield* Installed
          const project = join(folder, setting.moduleResolution)
          yield* fs.makeDirectory(project)
          yield* fs.writeFileString(join(project, "package.json"), '{ "type": "module" }\n')
          yield* fs.writeFileString(join(project, "consumer.ts"), program)
          yield* fs.writeFileString(join(project, "tsconfig.json"), strictly(setting))
          expect(compile(project)).toBe("")
        })
      )
    }

    it.scoped("compile in a new project without Effect, with each option", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* install(Object.keys(dependencies))
        yield* fs.writeFileString(join(folder, "mistakes.ts"), misspelt)
        for (const name of ["vitrine.config.ts", "tsconfig.json"]) {
          yield* fs.writeFileString(join(folder, name), readTemplate("page")[name] ?? "")
        }
        expect(compile(folder)).toBe("")
      })
    )

    it.scoped("can be named in the declarations of programs: those of scratchpad are written", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* install(Object.keys({ ...dependencies, ...devDependencies }))
        yield* fs.copy(join(folder, "node_modules/vitrine/scratchpad"), join(folder, "scratchpad"))
        const plugins = `import { content, folderSource } from "vitrine"
export const exhibits = folderSource({ id: "exhibits", directory: "content" })
export const plugin = content({ sources: [exhibits] })
`
        const parts = `import { DocumentSource } from "vitrine"
export const { define, fileFieldsOfReader, make, makeRequests, Options, Records } = DocumentSource
`
        yield* fs.writeFileString(join(folder, "scratchpad/plugins.ts"), plugins)
        yield* fs.writeFileString(join(folder, "scratchpad/parts.ts"), parts)
        const compilerOptions = {
          module: "nodenext",
          target: "es2022",
          lib: ["es2023"],
          types: ["node"],
          strict: true,
          skipLibCheck: true,
          allowImportingTsExtensions: true,
          declaration: true,
          emitDeclarationOnly: true,
          rootDir: "scratchpad",
          outDir: "declarations"
        }
        const tsconfig = JSON.stringify({ compilerOptions, include: ["scratchpad"] })
        yield* fs.writeFileString(join(folder, "tsconfig.json"), tsconfig)
        expect(compile(folder)).toBe("")
      })
    )

    it.scoped("of vitrine/plain compile without Effect", () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* install(Object.keys(dependencies))
        yield* fs.writeFileString(join(folder, "plain.ts"), plainProgram)
        yield* fs.writeFileString(
          join(folder, "tsconfig.json"),
          strictly({ module: "nodenext", moduleResolution: "nodenext" })
        )
        expect(compile(folder)).toBe("")
      })
    )
  })
})

/** Each mistake in it is one only where the types are not `any`. */
const misspelt = `
import * as vitrine from "vitrine"
${[
  "content({ sources: [], fetchEvry: 5 })",
  "defineConfig({ plugins: [], nod: {} })",
  'folderSource({ id: "a", directory: "b", expect: { Objects: { fields: { title: "txt" } } } })',
  'replica({ from: "http://hub:8730", reports: {} })'
]
  .map((call) => `// @ts-expect-error: misspelt\nvitrine.${call}\n`)
  .join("")}`

/** As above. */
const plainProgram = `
import { BindError, httpTransport, InvalidContext, InvalidOptions } from "vitrine/plain"
import { type PlainContext, type PlainFetchContext, tableSource } from "vitrine/plain"

export const setUp = (context: PlainContext) =>
  httpTransport({ port: 0, token: "0123456789abcdef" })
    .setup(context)
    .map(({ address }): number | undefined => address?.port)
export const read = (context: PlainFetchContext): ReadonlyArray<Promise<unknown>> =>
  tableSource({ id: "a", baseId: "b", apiKey: "c", tables: ["Objects"] }).fetch(context).map(({ data }) => data)
export const placeOf = (error: unknown): string | undefined => {
  if (error instanceof BindError) {
    // @ts-expect-error: a misspelt field
    error.prot
    return \`port \${error.port}: \${error.message}\`
  }
  return error instanceof InvalidOptions || error instanceof InvalidContext ? error.issues[0]?.path : undefined
}
// @ts-expect-error: misspelt
httpTransport({ prot: 8710 })
// @ts-expect-error: no port
httpTransport({ port: "8710" })
// @ts-expect-error: misspelt
tableSource({ id: "a", baseId: "b", apiKey: "c", table: ["Objects"] })
// @ts-expect-error: no key
tableSource({ id: "a", baseId: "b" })
// @ts-expect-error: no mode
export const mode: PlainContext["mode"] = "persist"
`

it("lists runtime dependencies apart from those of its build", () => {
  expect(Object.keys(dependencies).filter((name) => name in devDependencies)).toEqual([])
})
