/**
 * A hub: versions in a folder that a plain static server serves, and what may go wrong with that.
 */
import { readFileSync, statSync } from "node:fs"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import { sha256OfText } from "../../src/internal/sha256.ts"
import * as VersionStoreDisk from "../../src/layers/versions/VersionStoreDisk.ts"
import * as ScriptedServer from "./ScriptedServer.ts"

/** Files of each source, by their paths. */
export type Sources = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface ServedRequest {
  /** Without a slash at the beginning. */
  readonly path: string
  readonly headers: ScriptedServer.ReceivedRequest["headers"]
  readonly status: number
  /** How many bytes of a body were sent. */
  readonly bytes: number
}

export const makeHub = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const directory = yield* fs.makeTempDirectoryScoped()
  const store = yield* VersionStoreDisk.make({ directory, keepVersions: 20 })
  const requests: Array<ServedRequest> = []
  const faults: Array<{ readonly pattern: RegExp; readonly answers: Array<ScriptedServer.Answer> }> = []

  const serve: ScriptedServer.Answer = (response, request) => {
    const { headers, url } = request
    const name = decodeURIComponent(url.slice(1).replace(/\?.*$/, ""))
    const entry = { path: name, headers, status: 0, bytes: 0 }
    requests.push(entry)
    const end = response.end.bind(response)
    const fault = faults.find(({ answers, pattern }) => answers.length > 0 && pattern.test(name))
    const answer = fault?.answers.shift()
    response.once("close", () => {
      entry.status = response.statusCode
    })
    if (answer !== undefined) {
      answer(response, request)
      return
    }
    const file = path.join(directory, name)
    if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) {
      response.writeHead(404)
      end()
      return
    }
    const content = readFileSync(file)
    const etag = `"${sha256OfText(content.toString("latin1"))}"`
    if (headers["if-none-match"] === etag) {
      response.writeHead(304, { etag })
      end()
      return
    }
    const [, start] = /^bytes=(\d+)-$/.exec(headers.range ?? "") ?? []
    const from = Number(start ?? 0)
    const body = content.subarray(from)
    entry.bytes = body.length
    if (start === undefined) {
      response.writeHead(200, { etag, "content-length": body.length })
    } else if (from < content.length) {
      response.writeHead(206, {
        etag,
        "content-length": body.length,
        "content-range": `bytes ${from}-${content.length - 1}/${content.length}`
      })
    } else {
      response.writeHead(416)
    }
    end(from < content.length ? body : undefined)
  }
  const server = yield* ScriptedServer.make(serve)

  return {
    directory,
    url: server.url,
    store,
    requests,
    /** Answers the next requests of such paths so. */
    fault: (pattern: RegExp, ...answers: ReadonlyArray<ScriptedServer.Answer>) => {
      faults.push({ pattern, answers: [...answers] })
    },
    /** Takes back the faults that have not come to pass. */
    heal: () => {
      faults.length = 0
    },
    /** Makes a version of the files. */
    promote: (sources: Sources) =>
      Effect.gen(function* () {
        const staged = yield* store.stage
        for (const [sourceId, files] of Object.entries(sources)) {
          const folder = yield* staged.sourceDirectory(sourceId)
          for (const [name, content] of Object.entries(files)) {
            const file = path.join(folder, name)
            yield* fs.makeDirectory(path.dirname(file), { recursive: true })
            yield* fs.writeFileString(file, content)
          }
        }
        const { manifest } = yield* staged.promote(
          Object.entries(sources).map(([sourceId, files]) => ({
            sourceId,
            fingerprint: sha256OfText(JSON.stringify(files)),
            records: Object.keys(files).length
          }))
        )
        return manifest.versionId
      }).pipe(Effect.scoped)
  }
})

/** What is served of a downloads folder: the manifest and all files of its version, as they are. */
export const readActive = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const manifest = yield* fs.readFileString(path.join(directory, "manifest.json"))
  const version = path.join(directory, JSON.parse(manifest).versionPath)
  const files: Record<string, string> = {}
  for (const name of yield* fs.readDirectory(version, { recursive: true })) {
    const file = path.join(version, name)
    if ((yield* fs.stat(file)).type === "File") files[name] = yield* fs.readFileString(file)
  }
  return { manifest, files }
})
