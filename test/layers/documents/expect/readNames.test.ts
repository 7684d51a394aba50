import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { readNames } from "../../../../src/layers/documents/expect/Expectations.ts"

it.scoped.each([
  ["are read where it is whole", '"b": 2', Option.some({ names: new Set(["id", 'a"b', "b"]), count: 1 })],
  ["are none where it is no JSON", '"\\q": 2', Option.none()]
] as const)("names of a saved table %s", ([, line, expected]) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const directory = yield* fs.makeTempDirectoryScoped()
    const lines = ["[", "  {", '    "id": "rec1",', '    "a\\"b": 1,', `    ${line}`, "  }", "]"]
    yield* fs.writeFileString(`${directory}/Objects.json`, lines.join("\n"))
    const previous = {
      directory,
      fingerprint: Option.none(),
      files: { "Objects.json": { size: 1, sha256: "" } }
    }
    expect(yield* readNames(Option.some(previous), "Objects.json", "records")).toEqual(expected)
  }).pipe(Effect.provide(NodeContext.layer))
)
