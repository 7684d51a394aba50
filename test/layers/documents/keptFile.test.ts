import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { unfinishedFile } from "../../../src/files/durable.ts"
import { keptPart } from "../../../src/layers/documents/keptFile.ts"
import { SourceFolder } from "../../../src/services/ContentSource.ts"
import { withLog } from "../../support/logged.ts"

const open = Effect.fnUntraced(function* (folder: string) {
  const [changes, had] = yield* Effect.all([
    keptPart("objects", "changes", Schema.String),
    keptPart("objects", "had", Schema.Struct({ count: Schema.Number }))
  ]).pipe(Effect.provideService(SourceFolder, Option.some(folder)))
  return { changes, had }
})

it.scoped(
  "all that a source keeps is in one file, old or new, and nothing is left of an unfinished one",
  () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = `${yield* fs.makeTempDirectoryScoped()}/.sources`
      const { changes, had } = yield* open(folder)
      expect(yield* changes.read).toEqual(Option.none())
      yield* Effect.all([changes.write("old"), had.write({ count: 3 })], { concurrency: "unbounded" })
      yield* fs.writeFileString(unfinishedFile(`${folder}/objects.json`), "ne")
      const after = yield* open(folder)
      expect(yield* after.changes.read).toEqual(Option.some("old"))
      expect(yield* after.had.read).toEqual(Option.some({ count: 3 }))
      expect(yield* fs.readDirectory(folder)).toEqual(["objects.json"])
      yield* after.changes.write("new")
      expect(yield* changes.read).toEqual(Option.some("new"))
      yield* changes.remove
      expect(yield* changes.read).toEqual(Option.none())
      expect(yield* had.read).toEqual(Option.some({ count: 3 }))
    }).pipe(Effect.provide(NodeContext.layer))
)

it.scoped("what cannot be saved is logged once", () => {
  const log: Array<string> = []
  return Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const file = `${yield* fs.makeTempDirectoryScoped()}/file`
    yield* fs.writeFileString(file, "")
    const { changes } = yield* open(`${file}/.sources`)
    yield* changes.write("one")
    yield* changes.write("two")
    expect(log).toEqual([
      expect.stringMatching(
        /^WARN Source "objects": what it remembers cannot be saved.*: a file stands where/
      )
    ])
  }).pipe(withLog(log), Effect.provide(NodeContext.layer))
})

it.scoped(
  "what a source has kept in files of its own is read once more, and then moves into the one file",
  () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      yield* fs.writeFileString(`${folder}/objects.changes`, "list 1")
      yield* fs.writeFileString(`${folder}/objects.had`, `{ "count": 3 }`)
      const { changes, had } = yield* open(folder)
      expect(yield* changes.read).toEqual(Option.some("list 1"))
      expect(yield* had.read).toEqual(Option.some({ count: 3 }))
      yield* changes.remove
      yield* had.write({ count: 4 })
      expect(yield* fs.readDirectory(folder)).toEqual(["objects.json"])
      expect(yield* (yield* open(folder)).changes.read).toEqual(Option.none())
    }).pipe(Effect.provide(NodeContext.layer))
)

it.scoped("a file that is damaged, or has another form, is no value", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const { had } = yield* open(folder)
    for (const text of ["", "[1]", `{ "had": 3 }`]) {
      yield* fs.writeFileString(`${folder}/objects.json`, text)
      expect(yield* had.read).toEqual(Option.none())
    }
    yield* had.write({ count: 1 })
    expect(yield* had.read).toEqual(Option.some({ count: 1 }))
  }).pipe(Effect.provide(NodeContext.layer))
)
