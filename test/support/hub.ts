/**
 * A hub: versions in a folder that a plain static server serves, and what may go wrong with that. `upstream.ts` has it without a
 * socket.
 */
import { readFileSync, statSync } from "node:fs"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import { sha256OfText } from "../../src/files/sha256.ts"
import * as VersionStoreDisk from "../../src/layers/versions/VersionStoreDisk.ts"
import * as ScriptedServer from "./ScriptedServer.ts"

/** Files of each source, by their paths. */
export type Sources = Readonly<Record<string, Readonly<Record<string, string>>>>

export interface ServedRequest {
  /** Without a slash at the beginning. */
  readonly path: string
  readonly headers: Headers
  status: number
  /** How many bytes of a body were sent. */
  bytes: number
}

type Headers = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

/** The folder of a hub, and what is to go wrong when it is asked for, in answers of some kind. */
export const makeHubFolder = <Answer>() =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const directory = yield* fs.makeTempDirectoryScoped()
    const store = yield* VersionStoreDisk.make({ directory, keepVersions: 20 })
    const requests: Array<ServedRequest> = []
    const faults: Array<{ readonly pattern: RegExp; readonly answers: Array<Answer> }> = []

    /** As a plain static server. */
    const read = (entry: ServedRequest) => {
      const file = path.join(directory, entry.path)
      if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) {
        return { status: 404, headers: {} }
      }
      const content = readFileSync(file)
      const etag = `"${sha256OfText(content.toString("latin1"))}"`
      if (entry.headers["if-none-match"] === etag) {
        return { status: 304, headers: { etag } }
      }
      const [, start] = /^bytes=(\d+)-$/.exec(String(entry.headers.range ?? "")) ?? []
      const from = Number(start ?? 0)
      if (start !== undefined && from >= content.length) {
        return { status: 416, headers: {} }
      }
      const body = content.subarray(from)
      entry.bytes = body.length
      const headers = { etag, "content-length": String(body.length) }
      return start === undefined
        ? { status: 200, headers, body }
        : {
            status: 206,
            headers: { ...headers, "content-range": `bytes ${from}-${content.length - 1}/${content.length}` },
            body
          }
    }

    return {
      directory,
      store,
      requests,
      read,
      /** Notes a request, with the answer that is to go wrong with it. */
      receive: (url: string, headers: Headers) => {
        const entry = {
          path: decodeURIComponent(url.slice(1).replace(/\?.*$/, "")),
          headers,
          status: 0,
          bytes: 0
        }
        requests.push(entry)
        const fault = faults.find(({ answers, pattern }) => answers.length > 0 && pattern.test(entry.path))
        return { entry, answer: fault?.answers.shift() }
      },
      /** Answers the next requests of such paths so. */
      fault: (pattern: RegExp, ...answers: ReadonlyArray<Answer>) => {
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

/** A hub behind a real socket. */
export const makeHub = Effect.gen(function* () {
  const hub = yield* makeHubFolder<ScriptedServer.Answer>()
  const { url } = yield* ScriptedServer.make((response, request) => {
    const { answer, entry } = hub.receive(request.url, request.headers)
    response.once("close", () => {
      entry.status = response.statusCode
    })
    if (answer !== undefined) {
      answer(response, request)
      return
    }
    const { body, headers, status } = hub.read(entry)
    response.writeHead(status, headers).end(body)
  })
  return { ...hub, url }
})

/** What is served of a downloads folder: the manifest and all files of its version, as they are. */
export const readActive = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  // Who has released it is a matter of each machine.
  const { released, ...manifest } = JSON.parse(
    yield* fs.readFileString(path.join(directory, "manifest.json"))
  )
  const version = path.join(directory, manifest.versionPath)
  const files: Record<string, string> = {}
  for (const name of yield* fs.readDirectory(version, { recursive: true })) {
    const file = path.join(version, name)
    if ((yield* fs.stat(file)).type === "File") files[name] = yield* fs.readFileString(file)
  }
  return { manifest: JSON.stringify(manifest), files }
})
