/**
 * Downloads without tables: what is particular to attachments is tested with those.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Download from "../../../src/layers/httpClient/Download.ts"
import * as HttpClientNode from "../../../src/layers/httpClient/HttpClientNode.ts"
import * as ScriptedServer from "../../support/ScriptedServer.ts"
import { text } from "../../support/ScriptedServer.ts"

const setUp = Effect.gen(function* () {
  const fileSystem = yield* FileSystem.FileSystem
  const folder = yield* fileSystem.makeTempDirectoryScoped()
  const server = yield* ScriptedServer.make(text(200, "12345"))
  const download = yield* Download.make({
    maxBytes: { value: 8, option: "maxFileBytes" },
    maxTimeout: 60_000
  })
  const reports: Array<number> = []
  return {
    server,
    reports,
    files: fileSystem.readDirectory(folder),
    content: fileSystem.readFileString(`${folder}/file`),
    fetch: (size: Option.Option<number> = Option.none()) =>
      download({
        url: `${server.url}/secret?sig=1`,
        file: `${folder}/file`,
        name: "photos/file",
        size,
        onBytes: (bytes) => Effect.sync(() => reports.push(bytes))
      })
  }
})

const run = Effect.provide(Layer.merge(NodeContext.layer, HttpClientNode.layer))

describe("a download", () => {
  it.scoped("is in its file, and reported", () =>
    Effect.gen(function* () {
      const { content, fetch, reports } = yield* setUp
      yield* fetch(Option.some(5))
      expect(yield* content).toBe("12345")
      expect(reports).toEqual([5])
    }).pipe(run)
  )

  it.scoped("that fails leaves no file, and says why without the link", () =>
    Effect.gen(function* () {
      const { fetch, files, server } = yield* setUp
      for (const [answer, detail, isExpired] of [
        [text(403, ""), "responds with HTTP 403", true],
        [text(401, ""), "responds with HTTP 401", false],
        [text(200, "123456789"), '9 bytes, more than the 8 of "maxFileBytes"', false]
      ] as const) {
        server.next(answer)
        const failed = yield* Effect.flip(fetch())
        expect(failed).toMatchObject({ _tag: "vitrine/DownloadFailed", isExpired, isTransient: false })
        expect(failed.message).toContain(detail)
        expect(failed.message).not.toContain("secret")
        expect(yield* files).toEqual([])
      }
    }).pipe(run)
  )
})
