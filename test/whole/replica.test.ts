/**
 * Replicas as an operator runs them: the built command line, real servers, real signals.
 */
import { readdirSync, statSync } from "node:fs"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { sha256OfText } from "../../src/files/sha256.ts"
import { makeHub, readActive } from "../support/hub.ts"
import { startNginx } from "../support/nginx.ts"
import { isMissing } from "../support/programs.ts"
import { replicaProject } from "../support/replicaProject.ts"
import { eventually } from "../support/waiting.ts"

const film = "0123456789abcdef".repeat(1024 * 1024)
const sources = { exhibits: { "objects.json": "[1]", "film.mp4": film } }

describe("a replica", () => {
  it.scopedLive("that is killed during a download resumes it", () =>
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
})
