/**
 * What `vitrine diff` and `vitrine versions` print of what has changed, where no controller runs.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as HttpClientNode from "../../../src/layers/httpClient/HttpClientNode.ts"
import * as VersionStoreDisk from "../../../src/layers/versions/VersionStoreDisk.ts"
import { promoteSources } from "../../support/promote.ts"
import { says } from "../../support/says.ts"

const platform = Layer.merge(NodeContext.layer, HttpClientNode.layer)

const configuration = `
import { content } from "vitrine"
export default { plugins: [content({ downloadPath: "shown", sources: [] })] }
`

const bell = { id: "rec1", title: "Fog Bell", year: 1862 }

it.scopedLive(
  "vitrine diff lists old and new values, and vitrine versions compares none without a controller",
  () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
      const file = `${folder}/vitrine.config.mjs`
      yield* fs.writeFileString(file, configuration)
      const version = (objects: ReadonlyArray<object>, opening: string) =>
        promoteSources({
          exhibits: {
            "Objects.json": JSON.stringify(objects),
            "Settings.json": JSON.stringify({ opening }),
            [`${opening}.png`]: ""
          }
        })
      const [from, to] = yield* Effect.all([
        version([bell, { id: "rec2", title: "Lamp\u001b[2J" }], "10"),
        version([{ ...bell, year: 1863, maker: "Penrice" }, { id: "rec3" }], "11")
      ]).pipe(
        Effect.map((all) => all.map(({ manifest }) => manifest.versionId)),
        Effect.provide(VersionStoreDisk.layer({ directory: `${folder}/shown` }))
      )
      expect(yield* says("diff", "--config", file)).toEqual([
        `From version ${from} to ${to}:
exhibits, Objects: 1 added, 1 changed, 1 removed
  changed "Fog Bell" (rec1)
    year: 1862 → 1863
    maker: nothing → "Penrice"
  added rec3
  removed "Lamp [2J" (rec2)
exhibits, Settings: 0 added, 1 changed, 0 removed
  changed opening: "10" → "11"
files: 1 added, 0 changed, 1 removed
  added exhibits/11.png
  removed exhibits/10.png`
      ])
      expect(yield* says("diff", `${to}`, `${to}`, "--config", file)).toEqual([
        `From version ${to} to ${to}:\nNothing is different.`
      ])
      const [json = ""] = yield* says("diff", "--json", "--config", file)
      expect(JSON.parse(json)).toMatchObject({ from, to, documents: [{ added: 1 }, { changed: 1 }] })
      const [list = ""] = yield* says("versions", "--config", file)
      expect(list).toContain(from)
      expect(list).not.toContain("Fog Bell")
    }).pipe(Effect.provide(platform))
)
