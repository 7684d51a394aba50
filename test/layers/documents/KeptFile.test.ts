import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { unfinishedFile } from "../../../src/files/durable.ts"
import * as KeptFile from "../../../src/layers/documents/KeptFile.ts"
import { SourceFolder } from "../../../src/services/ContentSource.ts"
import { withLog } from "../../support/logged.ts"

const open = (folder: string) =>
  Effect.provideService(KeptFile.make("objects"), SourceFolder, Option.some(folder))

const had = { options: "", had: {}, accepted: [] }

it.scoped(
  "all that a source keeps is in one file, old or new, and nothing is left of an unfinished one",
  () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = `${yield* fs.makeTempDirectoryScoped()}/.sources`
      const { change, read } = yield* open(folder)
      expect(yield* read).toEqual({})
      yield* Effect.all([change({ changes: "old" }), change({ had })], { concurrency: "unbounded" })
      yield* fs.writeFileString(unfinishedFile(`${folder}/objects.json`), "ne")
      const after = yield* open(folder)
      expect(yield* after.read).toEqual({ changes: "old", had })
      expect(yield* fs.readDirectory(folder)).toEqual(["objects.json"])
      yield* after.change({ changes: undefined })
      expect(yield* (yield* open(folder)).read).toEqual({ had })
    }).pipe(Effect.provide(NodeContext.layer))
)

it.scoped("what cannot be saved is logged once, and saved as soon as that is possible", () => {
  const log: Array<string> = []
  return Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const file = `${yield* fs.makeTempDirectoryScoped()}/file`
    yield* fs.writeFileString(file, "")
    const { change } = yield* open(`${file}/.sources`)
    yield* change({ changes: "one" })
    yield* change({ changes: "two" })
    expect(log.filter((line) => line.includes("cannot be written"))).toEqual([
      expect.stringMatching(
        /^WARN .*objects\.json cannot be written, and a restart forgets what source "objects" had/
      )
    ])
    yield* fs.remove(file)
    yield* change({ changes: "two" })
    expect(yield* (yield* open(`${file}/.sources`)).read).toEqual({ changes: "two" })
  }).pipe(withLog(log), Effect.provide(NodeContext.layer))
})

it.scoped("a file that is damaged, or has another form, is logged once and kept aside", () => {
  const log: Array<string> = []
  return Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    for (const text of ["", "{", `[{ "had": 3 }]`]) {
      yield* fs.writeFileString(`${folder}/objects.json`, text)
      const { change, read } = yield* open(folder)
      expect([yield* read, yield* read]).toEqual([{}, {}])
      expect(log.splice(0)).toEqual([
        expect.stringMatching(
          /^WARN .*objects\.json cannot be read, and source "objects" forgets what it had, and what was accepted: .*kept as .*\.unread$/
        )
      ])
      yield* change({ changes: "new" })
      expect(yield* fs.readFileString(`${folder}/objects.json.unread`)).toBe(text)
      expect(yield* (yield* open(folder)).read).toEqual({ changes: "new" })
    }
  }).pipe(withLog(log), Effect.provide(NodeContext.layer))
})
