import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { tableId } from "../../../src/layers/tableServer/identifiers.ts"
import * as TableFolder from "../../../src/layers/tableServer/TableFolder.ts"
import { withLog } from "../../support/logged.ts"
import { temporaryFolder } from "../../support/temporaryFolder.ts"

const first = (folder: TableFolder.TableFolder, table: string) =>
  Effect.map(
    folder.find(table),
    Option.map(({ records }) => records[0]?.fields ?? {})
  )

describe("TableFolder", () => {
  it.scoped("finds tables by name and id, whatever they are called", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder({
        "Objects.csv": "a\n1\n",
        "Räume & Wege.JSON": '[{"a":2}]',
        "In%2FOut.csv": "a\n3\n",
        "100%.csv": "a\n4\n",
        "Cafe\u0301.csv": "a\n5\n",
        "views.json": "{}",
        ".hidden.csv": "a\n6\n",
        "notes.txt": "no table"
      })
      const folder = yield* TableFolder.make(directory)
      assert.deepStrictEqual(yield* folder.names, ["100%", "Café", "In/Out", "Objects", "Räume & Wege"])
      assert.deepStrictEqual(yield* first(folder, "Räume & Wege"), Option.some({ a: 2 }))
      assert.deepStrictEqual(yield* first(folder, "In/Out"), Option.some({ a: "3" }))
      assert.deepStrictEqual(yield* first(folder, "Cafe\u0301"), Option.some({ a: "5" }))
      assert.deepStrictEqual(yield* first(folder, tableId("100%")), Option.some({ a: "4" }))
      assert.deepStrictEqual(yield* first(folder, "views"), Option.none())
      assert.deepStrictEqual(yield* first(folder, "../Objects"), Option.none())
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("shows edited, renamed, added and removed files", () =>
    Effect.gen(function* () {
      const { directory, remove, rename, write } = yield* temporaryFolder({ "Objects.csv": "a\n1\n" })
      const folder = yield* TableFolder.make(directory)
      assert.deepStrictEqual(yield* first(folder, "Objects"), Option.some({ a: "1" }))
      yield* write("Objects.csv", "a\nedited\n")
      assert.deepStrictEqual(yield* first(folder, "Objects"), Option.some({ a: "edited" }))
      yield* rename("Objects.csv", "Rooms.csv")
      assert.deepStrictEqual(yield* first(folder, "Objects"), Option.none())
      assert.deepStrictEqual(yield* first(folder, "Rooms"), Option.some({ a: "edited" }))
      yield* write("Objects.json", "[]")
      assert.deepStrictEqual(yield* first(folder, "Objects"), Option.some({}))
      yield* remove("Rooms.csv")
      assert.deepStrictEqual(yield* folder.names, ["Objects"])
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("reads a file again only when it has changed", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder({ "Objects.csv": "a\n1\n" })
      const fs = yield* FileSystem.FileSystem
      yield* fs.utimes(`${directory}/Objects.csv`, new Date(0), new Date(0))
      const folder = yield* TableFolder.make(directory)
      const [once, again] = yield* Effect.all([folder.find("Objects"), folder.find("Objects")])
      assert.isTrue(Option.isSome(once) && Option.isSome(again) && once.value === again.value)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("sees every edit, however soon it follows on the last", () =>
    Effect.gen(function* () {
      const { directory, write } = yield* temporaryFolder()
      const folder = yield* TableFolder.make(directory)
      for (let edit = 100; edit < 200; edit++) {
        yield* write("Objects.csv", `a\n${edit}\n`)
        assert.deepStrictEqual(yield* first(folder, "Objects"), Option.some({ a: String(edit) }))
      }
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("tolerates a byte order mark", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder({
        "Objects.csv": "\uFEFFa\r\n1\r\n",
        "Rooms.json": '\uFEFF[{"a":1}]'
      })
      const folder = yield* TableFolder.make(directory)
      assert.deepStrictEqual(yield* first(folder, "Objects"), Option.some({ a: "1" }))
      assert.deepStrictEqual(yield* first(folder, "Rooms"), Option.some({ a: 1 }))
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("warns of a malformed file once for each change of it, and serves the others", () => {
    const log: Array<string> = []
    return Effect.gen(function* () {
      const { directory, write } = yield* temporaryFolder({
        "Objects.csv": "a,b\n1\n",
        "Rooms.csv": "a\n1\n"
      })
      const folder = yield* TableFolder.make(directory)
      const failures = Effect.all(
        [Effect.flip(folder.find("Objects")), Effect.flip(folder.find("Objects"))],
        {
          concurrency: "unbounded"
        }
      )
      const [error] = yield* failures
      assert.match(error.message, /^Objects\.csv, line 2: /)
      assert.deepStrictEqual(log, [`WARN ${error.message}`])
      yield* write("Objects.csv", "a,b\n1,2\n3\n")
      yield* failures
      assert.strictEqual(log.length, 2)
      assert.deepStrictEqual(yield* first(folder, "Rooms"), Option.some({ a: "1" }))
      yield* write("Objects.csv", "a,b\n1,2\n")
      assert.deepStrictEqual(yield* first(folder, "Objects"), Option.some({ a: "1", b: "2" }))
      assert.strictEqual(log.length, 2)
    }).pipe(withLog(log), Effect.provide(NodeContext.layer))
  })

  it.scoped("follows links inside the folder, and none out of it", () => {
    const log: Array<string> = []
    return Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const outside = yield* temporaryFolder({ "secret.csv": "a\n1\n", "views.json": "{}" })
      const { directory, remove } = yield* temporaryFolder({ "Objects.csv": "a\n2\n" })
      yield* fs.symlink(`${outside.directory}/secret.csv`, `${directory}/Rooms.csv`)
      yield* fs.symlink(`${outside.directory}/views.json`, `${directory}/views.json`)
      yield* fs.symlink("Objects.csv", `${directory}/Alias.csv`)
      const folder = yield* TableFolder.make(directory)
      assert.deepStrictEqual(yield* first(folder, "Alias"), Option.some({ a: "2" }))
      const error = yield* Effect.flip(folder.find("Rooms"))
      yield* Effect.flip(folder.find("Rooms"))
      assert.strictEqual(error.message, "Rooms.csv: is a link that leads out of the folder.")
      assert.match((yield* Effect.flip(folder.views)).message, /^views\.json: is a link/)
      assert.strictEqual(log.length, 2)
      yield* remove("Rooms.csv")
      yield* fs.symlink("Objects.csv", `${directory}/Rooms.csv`)
      assert.deepStrictEqual(yield* first(folder, "Rooms"), Option.some({ a: "2" }))
    }).pipe(withLog(log), Effect.provide(NodeContext.layer))
  })

  it.scoped("names both files that would be one table", () => {
    const log: Array<string> = []
    return Effect.gen(function* () {
      const { directory } = yield* temporaryFolder({ "Objects.csv": "a\n1\n", "Objects.json": "[]" })
      const folder = yield* TableFolder.make(directory)
      const error = yield* Effect.flip(folder.find("Objects"))
      yield* Effect.flip(folder.find("Objects"))
      assert.match(error.message, /^Objects\.csv and Objects\.json: /)
      assert.deepStrictEqual(log, [`WARN ${error.message}`])
    }).pipe(withLog(log), Effect.provide(NodeContext.layer))
  })

  it.scoped("tells what else is wrong with a file", () =>
    Effect.gen(function* () {
      const { directory } = yield* temporaryFolder({ "Latin.csv": Uint8Array.of(0x61, 0x0a, 0xe4, 0x0a) })
      const folder = yield* TableFolder.make(directory)
      assert.match((yield* Effect.flip(folder.find("Latin"))).message, /^Latin\.csv: is not UTF-8 text/)
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scoped("reads views.json anew when it has changed", () =>
    Effect.gen(function* () {
      const { directory, write } = yield* temporaryFolder()
      const folder = yield* TableFolder.make(directory)
      assert.deepStrictEqual(yield* folder.views, {})
      yield* write("views.json", '{"Objects":{"Grid view":{"removed":true}}}')
      assert.deepStrictEqual(yield* folder.views, {
        Objects: { "Grid view": { removed: true } }
      })
      yield* write("views.json", '{"Objects":5}')
      assert.match((yield* Effect.flip(folder.views)).message, /^views\.json: Objects/)
    }).pipe(Effect.provide(NodeContext.layer))
  )
})
