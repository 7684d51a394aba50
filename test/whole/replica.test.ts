/**
 * Replicas as an operator runs them: the built command line, real servers, real signals.
 */
import { readdirSync, statSync } from "node:fs"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { sha256OfText } from "../../src/internal/sha256.ts"
import { makeHub, readActive } from "../support/hub.ts"
import { startNginx } from "../support/nginx.ts"
import { isMissing } from "../support/programs.ts"
import { makeProject } from "../support/project.ts"
import { eventually } from "../support/waiting.ts"

/** A project whose configuration is a replica of the address in `HUB`. */
const replicaProject = Effect.gen(function* () {
  const project = yield* makeProject
  yield* project.write(
    "vitrine.config.ts",
    `import { defineConfig, replica } from "vitrine"
export default defineConfig({ plugins: [replica({ from: process.env.HUB ?? "", pollEvery: "1 second" })] })
`
  )
  return { ...project, downloads: `${project.folder}/downloads` }
})

const film = "0123456789abcdef".repeat(1024 * 1024)
const sources = { exhibits: { "objects.json": "[1]", "film.mp4": film } }

describe("a replica", () => {
  it.scopedLive("that is killed in the middle of a download goes on where it was", () =>
    Effect.gen(function* () {
      const { downloads, run } = yield* replicaProject
      const hub = yield* makeHub
      const versionId = yield* hub.promote(sources)
      const sent = film.length / 2
      hub.fault(/film/, (response) => {
        response.writeHead(200, { "content-length": film.length })
        response.write(film.slice(0, sent))
      })
      const part = `${downloads}/.partial/${sha256OfText(film)}`
      const first = yield* run(["start"], { HUB: hub.url })
      yield* eventually(Effect.sync(() => (statSync(part, { throwIfNoEntry: false })?.size ?? 0) > sent / 2))
      yield* first.signal("SIGKILL")
      yield* first.ended
      const kept = statSync(part).size
      expect(readdirSync(downloads)).not.toContain("manifest.json")

      hub.requests.length = 0
      const second = yield* run(["start"], { HUB: hub.url })
      expect(yield* second.logged(/New version (\S+):/)).toBe(versionId)
      const [request] = hub.requests.filter(({ path }) => path.endsWith("film.mp4"))
      expect(request).toMatchObject({ status: 206, bytes: film.length - kept })
      expect(yield* readActive(downloads)).toEqual(yield* readActive(hub.directory))
      expect(readdirSync(`${downloads}/.partial`)).toEqual([])
      yield* second.signal("SIGTERM")
      expect(yield* second.ended).toMatchObject({ status: 0 })
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive.skipIf(isMissing("nginx"))("copies from any static server, below a path", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const { downloads, run } = yield* replicaProject
      const hub = yield* makeHub
      const versionId = yield* hub.promote(sources)
      const nginx = yield* startNginx(hub.directory)
      const begun = 1000
      yield* fs.makeDirectory(`${downloads}/.partial`, { recursive: true })
      yield* fs.writeFileString(`${downloads}/.partial/${sha256OfText(film)}`, film.slice(0, begun))
      const fetched = yield* Effect.flatMap(run(["fetch"], { HUB: nginx.url }), ({ ended }) => ended)
      expect(fetched).toMatchObject({ status: 0 })
      expect(JSON.parse(fetched.stdout)).toMatchObject({ changed: true, versionId })
      expect(yield* readActive(downloads)).toEqual(yield* readActive(hub.directory))
      expect(yield* nginx.requests).toContain(
        `/museum/versions/${versionId}/exhibits/film.mp4 206 ${film.length - begun}`
      )

      const controller = yield* run(["start"], { HUB: nginx.url })
      const next = yield* hub.promote({ exhibits: { "objects.json": "[2]", "film.mp4": film } })
      expect(yield* controller.logged(/New version (\S+):/)).toBe(next)
      expect(yield* readActive(downloads)).toEqual(yield* readActive(hub.directory))
      const before = (yield* nginx.requests).length
      yield* eventually(Effect.map(nginx.requests, (requests) => requests.length > before + 2))
      expect((yield* nginx.requests).at(-1)).toBe("/museum/manifest.json 304 0")
    }).pipe(Effect.provide(NodeContext.layer))
  )

  it.scopedLive("of a controller shows what changes there", () =>
    Effect.gen(function* () {
      const hub = yield* makeProject
      yield* hub.write(
        "vitrine.config.ts",
        (yield* hub.read("vitrine.config.ts"))
          .replace("import { content,", "import { content, contentServer,")
          .replace("httpTransport({", "contentServer({ port: 0 }), httpTransport({")
      )
      const TABLES = yield* hub.serveTables()
      const controller = yield* hub.run(["start"], { TABLES })
      const HUB = yield* controller.logged(/Content server on (http:\S+): /)
      const versionId = yield* controller.logged(/New version (\S+):/)

      const { downloads, run } = yield* replicaProject
      const replica = yield* run(["start"], { HUB })
      expect(yield* replica.logged(/New version (\S+): 2 records/)).toBe(versionId)
      yield* hub.write("tables/Objects.csv", "inventory,title\nA-1,Sextant\n")
      const next = yield* replica.logged(/New version (\S+): 1 record,/)
      expect(yield* readActive(downloads)).toEqual(yield* readActive(`${hub.folder}/downloads`))
      expect((yield* readActive(downloads)).files["museum/Objects.json"]).toContain("Sextant")

      yield* controller.signal("SIGKILL")
      yield* replica.logged(
        /warn {3}Fetch failed, content stays as it is\. Cannot copy from .*Check that the hub runs/
      )
      const { stdout } = yield* Effect.flatMap(run(["status"]), ({ ended }) => ended)
      expect(stdout).toContain(`Active version  ${next}`)
      expect(stdout).toMatch(/Copied from\n.*failed: the connection/)
    }).pipe(Effect.provide(NodeContext.layer))
  )
})
