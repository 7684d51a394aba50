import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { linkOrCopy } from "../../src/files/fileBatch.ts"
import { withAdvancingClock } from "../../src/testing.ts"
import { withLocked } from "../support/lockedFiles.ts"

it.scoped("a file that another program has open is reused as soon as it is free", () => {
  let refusals = 3
  return Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    yield* fs.writeFileString(`${folder}/from`, "text")
    yield* withAdvancingClock(linkOrCopy(`${folder}/from`, `${folder}/to`))
    expect(yield* fs.readFileString(`${folder}/to`)).toBe("text")
    expect(refusals).toBeLessThan(0)
  }).pipe(
    Effect.provide(
      Layer.provideMerge(
        withLocked((path) => path.endsWith("/from") && refusals-- > 0),
        NodeContext.layer
      )
    )
  )
})
