import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as HttpClientNode from "../../../../src/layers/httpClient/HttpClientNode.ts"
import * as RequestPacingMemory from "../../../../src/layers/memory/RequestPacingMemory.ts"
import type { FolderSourceConfig } from "../../../../src/layers/sources/folder/FolderOptions.ts"
import { folderSource } from "../../../../src/layers/sources/folder/FolderSource.ts"
import { BaseFolder } from "../../../../src/services/ContentSource.ts"
import { withAdvancingClock } from "../../../../src/testing/advancingClock.ts"

const environment = Layer.mergeAll(NodeContext.layer, HttpClientNode.layer, RequestPacingMemory.layer)
const run = Effect.provide(environment)

const setUp = Effect.fnUntraced(function* (
  files: Readonly<Record<string, string>>,
  config: Partial<FolderSourceConfig> = {}
) {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "vitrine-"))),
    (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
  )
  const write = (path: string, content: string) =>
    Effect.promise(async () => {
      await mkdir(join(folder, "content"), { recursive: true })
      await writeFile(join(folder, "content", path), content)
    })
  yield* Effect.forEach(Object.entries(files), ([path, content]) => write(path, content))
  const source = yield* folderSource({ id: "exhibits", directory: "content", ...config }).make.pipe(
    Effect.provideService(BaseFolder, folder)
  )
  let versions = 0
  const fetch = Effect.gen(function* () {
    const directory = join(folder, `version ${versions++}`)
    yield* Effect.promise(() => mkdir(directory))
    const { value } = yield* withAdvancingClock(
      source.fetch({ directory, previous: Option.none(), progress: () => Effect.void })
    )
    const saved = (name: string) =>
      Effect.promise(async (): Promise<unknown> => JSON.parse(await readFile(join(directory, name), "utf8")))
    return { ...value, saved }
  })
  const failure = Effect.map(Effect.flip(fetch), ({ message }) => message.replaceAll(folder, "…"))
  return { folder, source, write, fetch, failure }
})

const settings = "key,value\ntitle,The Lighthouse\nidle,90\nloop,true\nslides[0],a\nslides[1],b\nempty,\n"

describe("key/value tables of a folder", () => {
  it.scoped("become one object, as the tables of Airtable do", () =>
    Effect.gen(function* () {
      const { fetch, source } = yield* setUp(
        { "Settings.csv": settings, "Objects.csv": "id\n1\n2\n" },
        { keyValueTables: ["Settings"], expect: { Settings: { fields: { title: "text", empty: "text?" } } } }
      )
      const { records, saved } = yield* fetch
      expect(yield* saved("Settings.json")).toEqual({
        empty: null,
        idle: 90,
        loop: true,
        slides: ["a", "b"],
        title: "The Lighthouse"
      })
      expect(records).toBe(3)
      expect((yield* source.schema ?? Effect.succeed({})).Settings).toMatchObject({ holds: "value" })
    }).pipe(run)
  )

  it.scoped("name files by their keys", () =>
    Effect.gen(function* () {
      const { fetch } = yield* setUp(
        { "Settings.csv": "key,value\nlogo,./logo.svg\nfilm,lost.mp4\n", "logo.svg": "<svg/>" },
        { keyValueTables: ["Settings"] }
      )
      const { saved, warnings } = yield* fetch
      expect(yield* saved("Settings.json")).toMatchObject({
        film: "lost.mp4",
        logo: "logo.svg"
      })
      expect(warnings).toEqual([expect.stringContaining('"film": there is no file "lost.mp4"')])
    }).pipe(run)
  )

  it.scoped("that are not in the folder are an error that lists the tables", () =>
    Effect.gen(function* () {
      const config = { keyValueTables: ["Settings"] }
      const others = yield* setUp({ "Objects.csv": "id\n1\n", "Settings.json": "{}" }, config)
      expect(yield* others.failure).toBe(
        'Source "exhibits": …/content: "keyValueTables" names the table "Settings", but there is no Settings.csv in it; there are: Objects.csv.'
      )
      const spreadsheet = yield* setUp({ "Settings.xlsx": "x" }, config)
      expect(yield* spreadsheet.failure).toContain("there is no CSV. Settings.xlsx: this spreadsheet")
    }).pipe(run)
  )

  it.scoped("name the lines of rows that clash, or have no key", () =>
    Effect.gen(function* () {
      const config = { keyValueTables: ["Settings"] }
      const clash = yield* setUp({ "Settings.csv": "key,value\na,1\nb,2\na[0],3\n" }, config)
      expect(yield* clash.failure).toContain(
        'Settings.csv: the key "a" is a value and an array at once (line 2 and line 4)'
      )
      const { fetch } = yield* setUp({ "Settings.csv": "key,value\na,1\n,2\n" }, config)
      expect((yield* fetch).warnings?.join()).toContain(
        'Settings.csv: 1 row has no text in the column "key"; left out (line 3)'
      )
    }).pipe(run)
  )
})
