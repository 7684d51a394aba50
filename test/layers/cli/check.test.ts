/**
 * What `vitrine check` prints.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as IpcServer from "../../../src/layers/control/IpcServer.ts"
import * as ControllerStateMemory from "../../../src/layers/controller/ControllerStateMemory.ts"
import * as HttpClientNode from "../../../src/layers/httpClient/HttpClientNode.ts"
import * as CommandBusMemory from "../../../src/layers/memory/CommandBusMemory.ts"
import * as EventBusMemory from "../../../src/layers/memory/EventBusMemory.ts"
import * as VersionStoreDisk from "../../../src/layers/versions/VersionStoreDisk.ts"
import { says } from "../../support/says.ts"

const platform = Layer.merge(NodeContext.layer, HttpClientNode.layer)

const configuration = `
import { content, folderSource } from "vitrine"
export default { plugins: [content({ sources: [folderSource({ id: "museum", directory: "content" })] })] }
`

it.scopedLive(
  "vitrine check lists the first changes of a fetch and counts the others, or prints all as JSON",
  () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
      const file = `${folder}/vitrine.config.mjs`
      yield* fs.writeFileString(file, configuration)
      yield* fs.makeDirectory(`${folder}/content`)
      const ids = Array.from({ length: 25 }, (_, index) => index)
      yield* fs.writeFileString(`${folder}/content/Objects.csv`, `id\n${ids.join("\n")}\n`)
      yield* Effect.forEach(ids, (id) => fs.writeFileString(`${folder}/content/${id}.txt`, ""))

      const [text = ""] = yield* says("check", "--config", file)
      const lines = text.split("\n")
      expect(lines.filter((line) => line.startsWith("  added "))).toHaveLength(40)
      expect(lines.filter((line) => line === "  and 5 more")).toHaveLength(2)

      const [json = ""] = yield* says("check", "--json", "--config", file)
      const { documents, files } = JSON.parse(json)
      expect([documents[0].records.length, documents[0].more]).toEqual([25, 0])
      expect([files.list.length, files.more]).toEqual([25, 0])
    }).pipe(Effect.provide(platform))
)

it.scopedLive(
  "vitrine check checks the changed configuration as it is while the exhibit runs, and saves nothing",
  () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
      const file = `${folder}/vitrine.config.mjs`
      yield* fs.writeFileString(file, configuration)
      yield* fs.makeDirectory(`${folder}/content`)
      yield* fs.writeFileString(`${folder}/content/Objects.csv`, "id,title\n1,Bell\n")
      yield* says("fetch", "--config", file)
      const versions = yield* fs.readDirectory(`${folder}/downloads/versions`)
      yield* Layer.build(VersionStoreDisk.layer({ directory: `${folder}/downloads` }))
      yield* IpcServer.make({ folder, configuration: "another text", stop: Effect.void })

      yield* fs.writeFileString(`${folder}/content/Objects.csv`, "id,title\n1,Bell\n2,Globe\n")
      expect((yield* says("check", "--config", file)).join()).toContain("1 added, 0 changed, 0 removed")
      yield* fs.writeFileString(
        file,
        configuration.replace(
          '"content" })',
          '"content", expect: { Objects: { fields: { titel: "text" } } } })'
        )
      )
      expect(String(yield* Effect.flip(says("check", "--config", file)))).toContain(
        '"titel": expected text, found nothing'
      )
      expect((yield* says("check", "museum", "--config", file)).join()).toContain(
        "museum/Objects.json: 2 records"
      )
      yield* fs.writeFileString(file, configuration.replace(/folderSource\(.*?\)/, ""))
      const [removed] = yield* says("check", "--config", file)
      expect(removed).toContain("museum: no longer in the configuration, so the new version is without it\n")
      expect(removed).toContain("A fetch makes a new version.")
      expect(yield* fs.readDirectory(`${folder}/downloads/versions`)).toEqual(versions)
      expect(
        (yield* fs.readDirectory(`${folder}/downloads/.staging`)).filter((name) => name.length === 36)
      ).toEqual([])
    }).pipe(
      Effect.provide([
        CommandBusMemory.layer,
        ControllerStateMemory.layer("persistent"),
        EventBusMemory.layer,
        platform
      ])
    )
)

it.scopedLive.each<readonly [string, string, string, ReadonlyArray<string>]>([
  ["the configuration, whatever it is called", "content/other.config.mjs", "..", []],
  ["the environment file", "vitrine.config.mjs", "..", ["--env-file", "content/prod.env"]],
  ["the downloads", "vitrine.config.mjs", "content", []]
])("refuses a folder of content with %s", ([, name, above, options]) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.realPath(yield* fs.makeTempDirectoryScoped())
    yield* fs.makeDirectory(`${folder}/content/inner`, { recursive: true })
    const file = `${folder}/${name}`
    yield* fs.writeFileString(
      file,
      configuration
        .replace('"content" })', `${JSON.stringify(`${folder}/content`)} })`)
        .replace("content({", `content({ downloadPath: ${JSON.stringify(`${folder}/${above}/downloads`)},`)
    )
    yield* fs.writeFileString(`${folder}/content/prod.env`, "TOKEN=1")
    const given = options.map((option) => option.replace(/^content/, `${folder}/content`))
    const failure = yield* Effect.flip(says("check", "--config", file, ...given))
    const found = given[1] ?? (above === ".." ? file : `${folder}/content/downloads`)
    expect(String(failure)).toContain(
      `${folder}/content: ${found} is in this folder, and everybody who can read the content could read this file.`
    )
  }).pipe(Effect.provide(platform))
)
