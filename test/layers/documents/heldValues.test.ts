import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeHolding } from "../../../src/layers/documents/heldValues.ts"
import { withAdvancingClock } from "../../../src/testing.ts"
import { withLocked } from "../../support/lockedFiles.ts"

it.scoped(
  "the file of a large document goes with the fetch, though another program has it open for a moment",
  () => {
    let refusals = 3
    return Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const fetching = Effect.gen(function* () {
        const { add } = yield* (yield* makeHolding)(`${folder}/held`)
        yield* add([], "1".repeat(16 * 1024 * 1024 + 1))
        expect(yield* fs.readDirectory(folder)).toEqual(["held"])
      })
      yield* withAdvancingClock(Effect.scoped(fetching))
      expect(yield* fs.readDirectory(folder)).toEqual([])
    }).pipe(
      Effect.provide(
        Layer.provideMerge(
          withLocked((path) => path.endsWith("/held") && refusals-- > 0),
          NodeContext.layer
        )
      )
    )
  }
)
