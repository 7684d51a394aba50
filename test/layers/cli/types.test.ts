/**
 * The types of a project, written from its configuration and the active version.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import type * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import * as TestServices from "effect/TestServices"
import * as vitrine from "../../../src/index.ts"
import { VitrineModule } from "../../../src/layers/cli/command.ts"
import * as types from "../../../src/layers/cli/types.ts"
import { runTask } from "../../../src/layers/controller/Controller.ts"
import * as ControllerServices from "../../../src/layers/controller/ControllerServices.ts"
import { loadConfiguration } from "../../../src/layers/controller/loadConfiguration.ts"
import * as HttpClient from "../../../src/layers/httpClient/HttpClientNode.ts"
import { fetch } from "../../support/content.ts"
import { withLog } from "../../support/logged.ts"
import { temporaryFolder } from "../../support/temporaryFolder.ts"
import { eventually, somebodySleeps } from "../../support/waiting.ts"

const configuration = (expect: string) => `import { content, defineConfig, folderSource } from "vitrine"
export default defineConfig({
  plugins: [content({ sources: [folderSource({ id: "exhibits", directory: "content", expect: ${expect} })] })]
})
`

const expectsTitle = configuration('{ Objects: { fields: { title: "text", year: "number?" } } }')

const platform = Layer.merge(NodeContext.layer, HttpClient.layer)

/** A project with a folder of content, and what is said in it. */
const makeProject = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const said: Array<string> = []
  const { directory, ...folder } = yield* temporaryFolder({ "vitrine.config.ts": expectsTitle })
  yield* fs.makeDirectory(`${directory}/content`)
  yield* folder.write("content/Objects.csv", "id,title,year,picture\n1,Bell,1862,bell.svg\n2,Barometer,,\n")
  yield* folder.write("content/Settings.json", '{ "title": "Kept", "slideSeconds": 16 }')
  yield* folder.write("content/Words.json", '["Kept", 16]')
  const file = `${directory}/vitrine.config.ts`
  const output = `${directory}/vitrine.d.ts`
  const write = (...texts: ReadonlyArray<unknown>) => Effect.sync(() => void said.push(texts.join(" ")))
  const heard = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Console.consoleWith((console) => Console.withConsole(effect, { ...console, log: write, error: write }))
  return {
    ...folder,
    directory,
    said,
    says: (count: number) => eventually(Effect.sync(() => said.length === count)),
    target: { file, output },
    text: Effect.orElseSucceed(fs.readFileString(output), () => ""),
    keep: heard(types.keepTypes({ file, output })).pipe(
      Effect.provideService(VitrineModule, Effect.succeed(vitrine))
    ),
    run: (options: { readonly output?: string } = {}) =>
      heard(types.run({ config: file, ...options })).pipe(
        Effect.provideService(VitrineModule, Effect.succeed(vitrine))
      ),
    fetch: Effect.flatMap(loadConfiguration(file, vitrine, true), (loaded) =>
      Effect.provide(runTask(loaded, fetch), ControllerServices.layer("task", undefined, loaded.identity))
    ).pipe(Logger.withMinimumLogLevel(LogLevel.None), TestServices.provideLive)
  }
}).pipe(Effect.provide(platform))

const look = Effect.zipRight(somebodySleeps, TestClock.adjust("1 second"))

const inProject = (
  name: string,
  test: (
    project: Effect.Effect.Success<typeof makeProject>
  ) => Effect.Effect<void, unknown, Layer.Layer.Success<typeof platform> | Scope.Scope>
) => it.scoped(name, () => Effect.provide(Effect.flatMap(makeProject, test), platform), 60_000)

const objects = (fields: string) => `      readonly Objects: ReadonlyArray<{
        readonly ${fields.split("; ").join("\n        readonly ")}
      }>
`

describe("vitrine types", () => {
  inProject("has the expected fields before the first version, and then those of the content", (project) =>
    Effect.gen(function* () {
      yield* project.run()
      expect(yield* project.text).toContain(
        `  interface Content {\n    readonly exhibits: {\n${objects("title: string; year?: number")}    }\n  }\n`
      )
      yield* project.fetch
      yield* project.run()
      const text = yield* project.text
      expect(
        text
      ).toContain(`${objects("id: string; picture?: string; title: string; year?: number")}      readonly Settings: {
        readonly slideSeconds?: number
        readonly title?: string
      }
      readonly Words: ReadonlyArray<string | number>
`)
      yield* project.run()
      expect(project.said).toEqual([
        "made   vitrine.d.ts",
        "made   vitrine.d.ts",
        "kept   vitrine.d.ts: nothing has changed"
      ])

      yield* project.write("content/Objects.csv", "id,name\n1,Bell\n")
      yield* project.write("vitrine.config.ts", configuration('{ Objects: { fields: { name: "text" } } }'))
      yield* project.fetch
      const output = `${project.directory}/types/other.d.ts`
      yield* project.run({ output })
      const fs = yield* FileSystem.FileSystem
      expect(yield* fs.readFileString(output)).toContain(objects("id: string; name: string"))
      expect(yield* project.text).toBe(text)
      expect(
        (yield* fs.readDirectory(project.directory)).filter((name) => name.includes(".d.ts")).sort()
      ).toEqual(["vitrine.d.ts"])
      expect(yield* fs.readDirectory(`${project.directory}/types`)).toEqual(["other.d.ts"])
    })
  )

  inProject("keeps the file of a fresh clone, which has no version yet", (project) =>
    Effect.gen(function* () {
      const kept =
        "kept   vitrine.d.ts: there is no version of the content here. Fetch first: npx vitrine fetch"
      yield* project.write("vitrine.d.ts", "of a version")
      yield* project.run()
      expect(yield* project.text).toBe("of a version")
      expect(project.said).toEqual([kept])
      yield* project.fetch
      yield* project.run()
      expect(yield* project.text).toContain("readonly Settings")
      expect(project.said).toEqual([kept, "made   vitrine.d.ts"])
    })
  )

  inProject("has no types of a page that is a source, and reads none of its files", (project) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const page = `${project.directory}/page`
      const log: Array<string> = []
      yield* fs.makeDirectory(`${page}/data.json`, { recursive: true })
      yield* project.write("page/index.html", "<!doctype html>")
      yield* project.write("page/data.json/part.txt", "a file in a folder with such a name")
      yield* project.write("page/tsconfig.json", "{ /* the options */ }")
      yield* project.write("page/fine.json", "{}")
      yield* project.write(
        "vitrine.config.ts",
        expectsTitle.replace(
          "sources: [",
          'sources: [folderSource({ id: "page", directory: "page", documents: false }), '
        )
      )
      yield* project.fetch
      yield* project.run().pipe(withLog(log))
      expect(yield* project.text).toContain("readonly Settings")
      expect(yield* project.text).not.toContain("page")
      expect(log).toEqual([])
    })
  )

  inProject("names a document that cannot be read in a warning, and has the types of the others", (project) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const log: Array<string> = []
      yield* project.fetch
      const [version = ""] = yield* fs.readDirectory(`${project.directory}/downloads/versions`)
      const folder = `${project.directory}/downloads/versions/${version}/exhibits`
      yield* fs.writeFileString(`${folder}/Settings.json`, "{ /* damaged */ }")
      yield* fs.writeFileString(`${folder}/Broken.json`, "[\n{\n]\n")
      yield* fs.makeDirectory(`${folder}/Folder.json`)
      yield* project.run().pipe(withLog(log))
      const text = yield* project.text
      expect(text).toContain(objects("id: string; picture?: string; title: string; year?: number"))
      expect(text).toContain("      readonly Settings: unknown\n")
      expect(log).toEqual(
        ["Broken", "Folder", "Settings"].map((name) =>
          expect.stringContaining(
            `WARN ${folder}/${name}.json cannot be read, so the types lack its fields: `
          )
        )
      )
    })
  )

  inProject("reports mistakes in the configuration", (project) =>
    Effect.gen(function* () {
      yield* project.write("vitrine.config.ts", configuration('{ Objects: { fields: { title: "words" } } }'))
      expect(String(yield* Effect.flip(project.run()))).toContain("expect.Objects.fields.title")
      yield* project.write("vitrine.config.ts", "export default { plugins: [] }")
      expect(String(yield* Effect.flip(project.run()))).toContain("there is no content({ … })")
      expect(yield* project.text).toBe("")
    })
  )
})

describe("vitrine types --watch", () => {
  inProject("follows the configuration and the versions, and continues while they are invalid", (project) =>
    Effect.gen(function* () {
      yield* Effect.forkScoped(project.keep)
      yield* project.says(1)
      expect(yield* project.text).toContain(objects("title: string; year?: number"))

      yield* look
      yield* look
      yield* project.fetch
      yield* look
      yield* project.says(2)
      const text = yield* project.text
      expect(text).toContain("readonly Settings")

      yield* project.write("vitrine.config.ts", "export default { plugins: [")
      yield* look
      yield* project.says(3)
      yield* look
      yield* look
      yield* somebodySleeps
      expect(yield* project.text).toBe(text)

      yield* project.write("vitrine.config.ts", configuration("{}"))
      yield* look
      yield* project.says(4)
      expect(yield* project.text).toContain("readonly title?: string")
      expect(project.said).toEqual([
        "made   vitrine.d.ts",
        "made   vitrine.d.ts",
        expect.stringContaining("vitrine.config.ts: it could not be loaded."),
        "made   vitrine.d.ts"
      ])
    })
  )

  inProject("writes the file again when it is missing or was edited", (project) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      yield* project.fetch
      yield* Effect.forkScoped(project.keep)
      yield* project.says(1)
      const text = yield* project.text

      yield* somebodySleeps
      yield* fs.remove(project.target.output)
      yield* look
      yield* project.says(2)
      expect(yield* project.text).toBe(text)

      yield* somebodySleeps
      yield* project.write("vitrine.d.ts", "of another branch")
      yield* look
      yield* project.says(3)
      expect(yield* project.text).toBe(text)
      expect(project.said).toEqual(Array(3).fill("made   vitrine.d.ts"))
    })
  )

  inProject("keeps a file without a message until there is a version", (project) =>
    Effect.gen(function* () {
      yield* project.write("vitrine.d.ts", "of a version elsewhere")
      yield* Effect.forkScoped(project.keep)
      yield* look
      expect(yield* project.text).toBe("of a version elsewhere")
      yield* project.fetch
      yield* look
      yield* eventually(Effect.sync(() => project.said.length > 0))
      expect(project.said).toEqual(["made   vitrine.d.ts"])
    })
  )

  inProject("retries a configuration that has failed after five seconds, with one message", (project) =>
    Effect.gen(function* () {
      yield* project.write("expected.ts", "export const expected = {")
      yield* project.write(
        "vitrine.config.ts",
        `import { expected } from "./expected.ts"\n${configuration("expected")}`
      )
      yield* Effect.forkScoped(project.keep)
      yield* project.says(1)
      yield* Effect.repeatN(look, 10)
      yield* somebodySleeps
      expect(project.said).toEqual([expect.stringContaining("it could not be loaded.")])

      yield* project.write(
        "expected.ts",
        'export const expected = { Objects: { fields: { title: "text" } } }'
      )
      yield* Effect.repeatN(look, 4)
      yield* project.says(2)
      expect(yield* project.text).toContain(objects("title: string"))
    })
  )
})
