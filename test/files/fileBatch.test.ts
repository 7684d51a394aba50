import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { linkOrCopy, linkOrCopyAll } from "../../src/files/fileBatch.ts"
import { withAdvancingClock } from "../../src/testing.ts"
import { withLocked } from "../support/lockedFiles.ts"

/** With a file in the place of its link, every file of `linkOrCopyAll` has to be copied. */
const reuses = {
  "a file": (folder: string) => linkOrCopy(`${folder}/from/file`, `${folder}/to/file`),
  "each of many files": (folder: string) => linkOrCopyAll(["file"], `${folder}/from`, `${folder}/to`)
}

for (const [name, reuse] of Object.entries(reuses)) {
  it.scoped(`${name} that another program has open is reused as soon as it is free`, () => {
    let refusals = 3
    return Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      for (const name of ["from", "to"]) {
        yield* fs.makeDirectory(`${folder}/${name}`)
        yield* fs.writeFileString(`${folder}/${name}/file`, name)
      }
      yield* withAdvancingClock(reuse(folder))
      expect(yield* fs.readFileString(`${folder}/to/file`)).toBe("from")
      expect(refusals).toBeLessThan(0)
    }).pipe(
      Effect.provide(
        Layer.provideMerge(
          withLocked((path) => path.endsWith("/from/file") && refusals-- > 0),
          NodeContext.layer
        )
      )
    )
  })
}
