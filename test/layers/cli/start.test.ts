import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import { reportChange } from "../../../src/layers/cli/start.ts"
import * as ControllerStateMemory from "../../../src/layers/controller/ControllerStateMemory.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { eventually, somebodySleeps } from "../../support/waiting.ts"

const sections = Effect.flatMap(ControllerState, ({ status }) => status).pipe(
  Effect.map(({ sections }) => sections)
)

describe("a configuration file", () => {
  it.scoped("that changes while the controller runs is a problem until its text is put back", () => {
    return Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const file = `${yield* fs.makeTempDirectoryScoped()}/vitrine.config.ts`
      yield* fs.writeFileString(file, "export default 1")
      yield* reportChange({ file, text: "export default 1" })
      const look = Effect.zipRight(somebodySleeps, TestClock.adjust("10 seconds"))
      yield* look
      // As an editor does it.
      yield* fs.remove(file)
      yield* look
      yield* fs.writeFileString(file, "export default 1")
      yield* look
      yield* somebodySleeps
      expect(yield* sections).toEqual([])

      yield* fs.writeFileString(file, "export default 2")
      yield* look
      const saying = "has changed since the start: it takes effect when the controller is restarted."
      yield* eventually(Effect.map(sections, ({ length }) => length > 0))
      expect(yield* sections).toMatchObject([
        { title: "Configuration", rows: [{ text: `vitrine.config.ts ${saying}`, tone: "warn" }] }
      ])

      yield* fs.remove(file)
      yield* look
      yield* somebodySleeps
      expect(yield* sections).toHaveLength(1)
      yield* fs.writeFileString(file, "export default 1")
      yield* look
      yield* eventually(Effect.map(sections, ({ length }) => length === 0))
    }).pipe(Effect.provide(ControllerStateMemory.layer("persistent")), Effect.provide(NodeContext.layer))
  })
})
