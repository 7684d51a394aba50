/**
 * The packed package as its first user has it.
 */
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import { expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { compile } from "../support/compile.ts"
import { repository } from "../support/documents.ts"
import { environment, Installed, install, peersAndDependencies } from "../support/installed.ts"
import { runVitrine } from "../support/vitrineProcess.ts"

layer(environment, { excludeTestServices: true, timeout: 240_000 })("the package", (it) => {
  it.scoped("creates a project, and runs it", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* Installed
      const bin = join(folder, "node_modules/.bin/vitrine")
      const begun = yield* Effect.flatMap(runVitrine(["init"], { cwd: folder, bin }), ({ ended }) => ended)
      expect(begun).toMatchObject({ status: 0, stderr: "" })

      const file = join(folder, "vitrine.config.ts")
      const configuration = (yield* fs.readFileString(file)).replaceAll("8710", "0")
      yield* fs.writeFileString(file, configuration)
      expect(compile(folder), "what an editor says of the configuration").toBe("")
      const controller = yield* runVitrine(["start"], { cwd: folder, bin })
      yield* controller.logged(/HTTP transport on (http:\S+): /)
      yield* controller.logged(/(Ready)/)
      yield* controller.signal("SIGTERM")
      expect(yield* controller.ended).toMatchObject({ status: 0 })
    })
  )

  it.scoped("calls files while eight other calls hang", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* install(peersAndDependencies)
      // Opening a pipe waits until somebody writes to it.
      const configuration = `
        import { execFileSync } from "node:child_process"
        import { open, openSync, stat } from "node:fs"
        import { defineConfig } from "vitrine"
        execFileSync("mkfifo", ["pipe"])
        for (let calls = 0; calls < 8; calls++) open("pipe", "r", () => {})
        stat("pipe", () => {
          console.error("The file was found")
          openSync("pipe", "r+")
        })
        export default defineConfig({ plugins: [] })`
      yield* fs.writeFileString(join(folder, "vitrine.config.ts"), configuration)
      const bin = join(folder, "node_modules/.bin/vitrine")
      const controller = yield* runVitrine(["start"], { cwd: folder, bin })
      yield* controller.logged(/(The file was found)/)
      yield* controller.signal("SIGTERM")
      expect(yield* controller.ended).toMatchObject({ status: 0 })
    })
  )

  it.scoped("serves the page of the dashboard in an Effect program", () =>
    Effect.gen(function* () {
      const program = `
        import { Effect, Option } from "effect"
        import { ControllerServices, Dashboard } from "vitrine"
        await Dashboard.make({ port: 0 }).pipe(
          Effect.map(({ address }) => Option.getOrThrow(address).port),
          Effect.flatMap((port) => Effect.promise(() => fetch(\`http://127.0.0.1:\${port}\`))),
          Effect.flatMap((response) => Effect.promise(() => response.text())),
          Effect.map(console.log),
          Effect.scoped,
          Effect.provide(ControllerServices.layer("persistent")),
          Effect.runPromise
        )`
      const said = execFileSync(process.execPath, ["--input-type=module", "-e", program], {
        cwd: yield* Installed,
        encoding: "utf8"
      })
      expect(said).toMatch(/<!doctype html>/i)
    })
  )

  it.scoped("starts with a dashboard beside another release of Effect 3 than that of its bundle", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* install(peersAndDependencies.filter((name) => name !== "effect"))
      const own = join(repository, "node_modules/effect")
      const other = join(folder, "node_modules/effect")
      yield* fs.makeDirectory(other)
      for (const name of yield* fs.readDirectory(own)) {
        yield* fs.symlink(join(own, name), join(other, name))
      }
      const manifest = JSON.parse(yield* fs.readFileString(join(own, "package.json")))
      yield* fs.remove(join(other, "package.json"))
      yield* fs.writeFileString(
        join(other, "package.json"),
        JSON.stringify({ ...manifest, version: "3.999.0" })
      )
      yield* fs.writeFileString(
        join(folder, "vitrine.config.ts"),
        `import { dashboard, defineConfig } from "vitrine"
export default defineConfig({ plugins: [dashboard({ port: 0 })] })
`
      )
      const bin = join(folder, "node_modules/.bin/vitrine")
      const controller = yield* runVitrine(["start"], { cwd: folder, bin })
      const url = yield* controller.logged(/Dashboard on (http:\S+): /)
      expect(yield* Effect.promise(async () => (await fetch(url)).text())).toMatch(/<!doctype html>/i)
      yield* controller.signal("SIGTERM")
      expect(yield* controller.ended).toMatchObject({ status: 0 })
    })
  )
})
