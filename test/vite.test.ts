/**
 * The dev server of Vite with the plugin, without a browser: what it passes on, what it answers where nothing is behind it,
 * and what a build has of it.
 */
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import type * as Scope from "effect/Scope"
import { build } from "vite"
import { vitrine } from "../src/vite.ts"
import { repository } from "./support/documents.ts"
import { freePort } from "./support/freePort.ts"
import { idOf, makeStageWith } from "./support/stage.ts"
import { makeViteProject, startVite, viteConfig } from "./support/vite.ts"
import { eventually } from "./support/waiting.ts"

const scenario = (title: string, test: Effect.Effect<void, unknown, NodeContext.NodeContext | Scope.Scope>) =>
  it.scopedLive(title, () =>
    test.pipe(Logger.withMinimumLogLevel(LogLevel.Warning), Effect.provide(NodeContext.layer))
  )

const get = (url: string, path: string) =>
  Effect.promise(async () => {
    const response = await fetch(new URL(path, url))
    return { status: response.status, text: await response.text() }
  })

const project = makeViteProject({
  "index.html": '<!doctype html><script type="module" src="/main.ts"></script>',
  "main.ts": 'import { connect } from "vitrine/client"\nconnect({ load: (): string => "the page" })\n',
  "versions.html": "<!doctype html>beside"
})

const start = false

describe("the dev server", () => {
  scenario(
    "has the manifest, the versions and the transport of a controller, and its own page",
    Effect.gen(function* () {
      const stage = yield* makeStageWith("the page of the controller")
      const servers = yield* stage.start()
      yield* stage.promote(1)
      const { url } = yield* startVite(yield* project, { content: servers.url, start })

      expect(JSON.parse((yield* get(url, "/manifest.json")).text)).toMatchObject({ versionId: idOf(1) })
      const table = yield* get(url, `/versions/${idOf(1)}/exhibits/Objects.json`)
      expect(JSON.parse(table.text)).toEqual([{ id: "rec1", number: 1 }])
      expect(JSON.parse((yield* get(url, "/endpoint.json")).text)).toEqual({
        transport: `http://127.0.0.1:${servers.transportPort}`
      })
      expect((yield* get(url, "/vitrine/client.js?v=1")).text).toContain("/manifest.json")
      expect((yield* get(url, "/")).text).toContain("/main.ts")
      expect((yield* get(url, "/main.ts")).text).toContain("the page")
      expect((yield* get(url, "/versions.html")).text).toContain("beside")
    })
  )

  scenario(
    "responds with 503 while the controller is away, with one message each time",
    Effect.gen(function* () {
      const stage = yield* makeStageWith("")
      const port = yield* freePort
      const content = `http://127.0.0.1:${port}`
      const { log, url } = yield* startVite(yield* project, { content, start, types: false })
      const statuses = Effect.forEach(["/manifest.json", "/endpoint.json", "/manifest.json"], (path) =>
        Effect.map(get(url, path), ({ status }) => status)
      )
      const said = `[vitrine] Nothing answers at ${content}: pages wait for it. Set another address with the option content of the plugin.`

      expect(yield* statuses).toEqual([503, 503, 503])
      expect(log).toEqual([said])
      yield* stage.promote(1)
      const servers = yield* stage.start({}, port)
      expect(yield* statuses).toEqual([200, 200, 200])
      yield* servers.stop
      expect(yield* statuses).toEqual([503, 503, 503])
      expect(log).toEqual([said, said])
    })
  )
})

describe("the watcher of the dev server", () => {
  scenario(
    "leaves out the folders of the controller, in a folder with any name",
    Effect.gen(function* () {
      const folder = yield* makeViteProject({
        "exhibit (2)/index.html": "",
        "exhibit (2)/downloads/versions/1/file.txt": "",
        "exhibit (2)/.vitrine/controller.pid": "",
        "exhibit (2)/src/downloads/main.ts": ""
      })
      const root = `${folder}/exhibit (2)`
      const { server } = yield* startVite(root, { start, types: false })
      const watched = Effect.sync(() => Object.keys(server.watcher.getWatched()))
      yield* eventually(Effect.map(watched, (folders) => folders.includes(`${root}/src/downloads`)))
      for (const name of ["downloads", ".vitrine"]) {
        expect(yield* watched).not.toContain(`${root}/${name}`)
      }
    })
  )
})

describe("a program that is no controller", () => {
  scenario(
    "does not keep the controller of the project from being started",
    Effect.gen(function* () {
      const root = yield* project
      const other = yield* startVite(root, { start, types: false })
      const { log } = yield* startVite(root, { content: other.url.slice(0, -1), types: false })
      const said = Effect.sync(() => log.filter((line) => line.startsWith("[vitrine]")))
      yield* eventually(Effect.map(said, ({ length }) => length > 0))
      expect(yield* said).toEqual([
        expect.stringContaining("Runs nothing: there is no vitrine.config.ts in ")
      ])
    })
  )
})

describe("a production build", () => {
  scenario(
    "is the same without the plugin",
    Effect.gen(function* () {
      const root = yield* project
      const codeWith = (plugins: ReadonlyArray<ReturnType<typeof vitrine>>) =>
        Effect.promise(async () => {
          const result = await build({
            ...viteConfig(root),
            plugins: [...plugins],
            build: { write: false },
            resolve: { alias: { "vitrine/client": `${repository}/dist/client.js` } }
          })
          return JSON.stringify(result)
        })
      const code = yield* codeWith([])
      expect(code).toContain("/manifest.json")
      expect(yield* codeWith([vitrine()])).toBe(code)
    })
  )
})
