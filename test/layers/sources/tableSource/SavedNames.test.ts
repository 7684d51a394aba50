import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { makeSavedNames } from "../../../../src/layers/sources/tableSource/SavedNames.ts"

it.scoped("names of a saved table are read from its lines, but for what is no name", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const directory = yield* fs.makeTempDirectoryScoped()
    const lines = ["[", "  {", '    "id": "rec1",', '    "a\\"b": 1,', '    "\\q": 2', "  }", "]"]
    yield* fs.writeFileString(`${directory}/Objects.json`, lines.join("\n"))
    const previous = {
      directory,
      fingerprint: Option.none(),
      files: { "Objects.json": { size: 1, sha256: "of a source that writes no JSON" } }
    }
    const names = yield* makeSavedNames()(Option.some(previous), "Objects.json", "records")
    expect(names).toMatchObject(Option.some({ names: new Set(["id", 'a"b']), count: 1 }))
  }).pipe(Effect.provide(NodeContext.layer))
)
