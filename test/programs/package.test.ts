/**
 * The packed package as its first user has it.
 */
import { join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import { expect, layer } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { compile } from "../support/compile.ts"
import { environment, Installed } from "../support/installed.ts"
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
})
