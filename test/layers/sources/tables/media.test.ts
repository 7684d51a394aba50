/**
 * Links in columns of text of a table source.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { issuesText } from "../../../../src/internal/Options.ts"
import * as httpClient from "../../../../src/layers/httpClient/HttpClientNode.ts"
import * as RequestPacingMemory from "../../../../src/layers/memory/RequestPacingMemory.ts"
import { tableSource } from "../../../../src/layers/sources/tables/airtableSource.ts"
import * as ScriptedServer from "../../../support/ScriptedServer.ts"
import { json, text } from "../../../support/ScriptedServer.ts"

const run = Effect.provide(Layer.mergeAll(NodeContext.layer, httpClient.layer, RequestPacingMemory.layer))

const config = { id: "exhibits", baseId: "app1", apiKey: "k3y", tables: ["Objects"] }

it.scopedLive("a link in a text column is downloaded like an attachment", () =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const files = yield* ScriptedServer.make(text(200, "picture", { "content-type": "image/jpeg" }))
    const photo = { id: "att1", filename: "a.png", url: `${files.url}/att1` }
    const fields = { Cover: `${files.url}/cover.jpg`, Photo: [photo], Site: "https://museum.example/" }
    const api = yield* ScriptedServer.make(json(200, { records: [{ id: "rec1", fields }] }))
    const source = yield* tableSource({
      ...config,
      endpointUrl: api.url,
      media: { types: ["image/*"], replace: ["*.Cover"], hosts: ["127.0.0.1"] }
    }).make
    const directory = yield* fileSystem.makeTempDirectoryScoped()
    const fetched = yield* source.fetch({ directory, previous: Option.none(), progress: () => Effect.void })
    const [record]: ReadonlyArray<Record<string, unknown>> = JSON.parse(
      yield* fileSystem.readFileString(`${directory}/Objects.json`)
    )
    expect(record).toMatchObject({
      Cover: { url: fields.Cover, localPath: expect.stringMatching(/^media\/cover-[0-9a-f]{16}\.jpg$/) },
      Photo: [{ localPath: "attachments/att1/a.png" }],
      Site: fields.Site
    })
    expect(fetched.attachments).toEqual({ total: 2, bytes: 14, reused: 0 })
  }).pipe(run)
)

it("a mistake in the options of media is reported with its place", () => {
  const { issues } = tableSource({ ...config, media: {} })
  expect(issuesText("the options", issues)).toContain('media: expected at least one of "find"')
})
