import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { unfinishedFile } from "../../../src/files/durable.ts"
import { keptFile } from "../../../src/layers/documents/keptFile.ts"
import { SourceFolder } from "../../../src/services/ContentSource.ts"

it.scoped(
  "a file that a source keeps has the old text if a new one was not finished, and nothing is left of it",
  () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = `${yield* fs.makeTempDirectoryScoped()}/.sources`
      const open = Effect.provideService(keptFile("objects.had"), SourceFolder, Option.some(folder))
      const before = yield* open
      expect(yield* before.read).toEqual(Option.none())
      yield* before.write("old")
      yield* fs.writeFileString(unfinishedFile(`${folder}/objects.had`), "ne")
      const after = yield* open
      expect(yield* after.read).toEqual(Option.some("old"))
      expect(yield* fs.readDirectory(folder)).toEqual(["objects.had"])
      yield* after.write("new")
      expect(yield* after.read).toEqual(Option.some("new"))
      yield* after.remove
      expect(yield* fs.readDirectory(folder)).toEqual([])
    }).pipe(Effect.provide(NodeContext.layer))
)
