/**
 * A page that is part of the content: a folder of the hub, copied and served by a player.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { ContentServerConfig } from "../../../src/layers/contentServer/ContentServer.ts"
import * as ContentServer from "../../../src/layers/contentServer/ContentServer.ts"
import * as Content from "../../../src/layers/fetching/Content.ts"
import * as HttpClientNode from "../../../src/layers/httpClient/HttpClientNode.ts"
import * as RequestPacingMemory from "../../../src/layers/memory/RequestPacingMemory.ts"
import { folderSource } from "../../../src/layers/sources/folder/folderSource.ts"
import { BaseFolder } from "../../../src/services/ContentSource.ts"
import { servicesIn } from "../../support/content.ts"
import { writeFile } from "../../support/contentServer.ts"
import { readActive } from "../../support/hub.ts"
import { makeReplica } from "../../support/replica.ts"
import { memoryServices } from "../../support/transport.ts"

const serve = (options: ContentServerConfig) =>
  Effect.map(Effect.provide(ContentServer.make({ ...options, port: 0 }), memoryServices()), (server) => ({
    ...server,
    url: `http://127.0.0.1:${Option.getOrThrow(server.address).port}`
  }))

it.scopedLive("a build of the page is copied with the content, except for unchanged files", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const [directory, downloadPath] = [`${folder}/dist`, `${folder}/downloads`] as const
    const write = (path: string, content: string) => writeFile(`${directory}/${path}`, content)
    yield* write("index.html", "<h1>one</h1>")
    yield* write("data.json", "{}")
    yield* write("prices.csv", "id;price")
    yield* write("assets/one.js", "1")

    const services = yield* Layer.build(
      Layer.merge(servicesIn(downloadPath, "task"), RequestPacingMemory.layer)
    )
    const page = folderSource({ id: "page", directory, documents: false })
    const content = yield* Content.make({ sources: [page] }).pipe(
      Effect.provideService(BaseFolder, folder),
      Effect.provide(services)
    )
    const hub = yield* serve({ downloadPath })

    yield* content.fetch
    const player = yield* makeReplica(hub.url)
    yield* player.fetchLive
    const { url } = yield* serve({ downloadPath: player.folder, site: { source: "page" } })
    const get = (path: string) =>
      Effect.promise(async () => {
        const response = await fetch(`${url}${path}`)
        return { build: response.headers.get("vitrine-build"), text: await response.text() }
      })
    expect((yield* get("/")).text).toBe("<h1>one</h1>")
    expect((yield* get("/data.json")).text).toBe("{}")
    expect((yield* get("/prices.csv")).text).toBe("id;price")
    const before = yield* get("/manifest.json")

    yield* write("index.html", "<h1>two</h1>")
    yield* fs.remove(`${directory}/assets/one.js`)
    yield* write("assets/two.js", "2")
    expect(yield* content.fetch).toMatchObject({ changed: true })
    const requests = Effect.map(hub.statistics, ({ requests }) => requests)
    const asked = yield* requests
    expect(yield* player.fetchLive).toMatchObject({ changed: true })
    // The manifest before and after, the list, and the two new files.
    expect((yield* requests) - asked).toBe(5)
    expect(yield* player.active).toEqual(yield* readActive(downloadPath))
    expect((yield* get("/")).text).toBe("<h1>two</h1>")
    expect((yield* get("/assets/two.js")).text).toBe("2")
    // A page that was opened before loads its other files.
    expect((yield* get("/assets/one.js")).text).toBe("1")
    expect((yield* get("/manifest.json")).build).not.toBe(before.build)
  }).pipe(Effect.provide(Layer.merge(NodeContext.layer, HttpClientNode.layer)))
)
