/**
 * The content server on a free port, over a downloads folder with versions that the test makes.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { ContentServerConfig } from "../../src/layers/contentServer/ContentServer.ts"
import * as ContentServerLayer from "../../src/layers/contentServer/ContentServer.ts"
import { ContentServer } from "../../src/services/ContentServer.ts"
import * as rawHttp from "./rawHttp.ts"
import { sha256 } from "./sha256.ts"
import { memoryServices } from "./transport.ts"

export const versionId = "20261121T093000Z"

/** The files of the source `exhibits`, by their paths. */
export type Files = Readonly<Record<string, string | Uint8Array>>

export const fileListOf = (files: Files, id = versionId) => listOf({ exhibits: files }, id)

/** Files of sources, by the ids of these. */
export type Sources = Readonly<Record<string, Files>>

const listOf = (sources: Sources, id: string) => ({
  schemaVersion: 1,
  versionId: id,
  generatedAt: "2026-11-21T09:30:00.250Z",
  sources: Object.entries(sources).map(([sourceId, files]) => ({
    sourceId,
    fingerprint: "1",
    files: Object.fromEntries(
      Object.entries(files).map(([path, content]) => [
        path,
        { size: Buffer.byteLength(content), sha256: sha256(content) }
      ])
    )
  }))
})

/** Writes a file with the folders above it. */
export const writeFile = (file: string, content: string | Uint8Array) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    yield* fs.makeDirectory(file.slice(0, file.lastIndexOf("/")), { recursive: true })
    yield* typeof content === "string" ? fs.writeFileString(file, content) : fs.writeFile(file, content)
  })

/** Adds a version to a downloads folder, and makes it the active one. */
export const addVersion = (downloads: string, files: Files, id = versionId) =>
  addSources(downloads, { exhibits: files }, id)

/** The same with several sources, and perhaps only as the one that waits behind the active one. */
export const addSources = (downloads: string, sources: Sources, id = versionId, active = id) =>
  Effect.gen(function* () {
    const folder = `${downloads}/versions/${id}`
    for (const [source, files] of Object.entries(sources)) {
      for (const [path, content] of Object.entries(files)) {
        yield* writeFile(`${folder}/${source}/${path}`, content)
      }
    }
    const list = listOf(sources, id)
    yield* writeFile(`${folder}/files.json`, JSON.stringify(list))
    yield* writeFile(
      `${downloads}/manifest.json`,
      JSON.stringify({
        schemaVersion: 1,
        versionId: active,
        versionPath: `versions/${active}`,
        generatedAt: list.generatedAt,
        sources: Object.keys(sources).map((sourceId) => ({ sourceId, path: sourceId })),
        ...(active === id ? {} : { held: { since: list.generatedAt, waiting: id } })
      })
    )
  })

/** A folder for downloads that the test fills. */
export const makeFolder = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  return yield* fs.realPath(yield* fs.makeTempDirectoryScoped({ prefix: "vitrine-" }))
})

export const environment = Layer.merge(memoryServices(), NodeContext.layer)

export const layer = (options: ContentServerConfig) => ContentServerLayer.layer({ port: 0, ...options })

export const port = Effect.map(ContentServer, ({ address }) => Option.getOrThrow(address).port)

export const connect = Effect.flatMap(port, rawHttp.connect)

export interface Answer {
  readonly status: number
  /** By name in small letters. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

/** Sends one request on its own connection. */
export const request = (request: rawHttp.Request): Effect.Effect<Answer, Error, ContentServer> =>
  Effect.scoped(
    Effect.flatMap(connect, ({ received, send }) => {
      send(rawHttp.format(request))
      return Effect.map(received.whole, () => parse(received.bytes()))
    })
  )

const parse = (bytes: Buffer): Answer => {
  const { headers, status } = rawHttp.parse(bytes.toString("latin1"))
  return { status, headers, body: bytes.subarray(bytes.indexOf("\r\n\r\n") + 4) }
}

export const get = (target: string, headers: Readonly<Record<string, string>> = {}) =>
  request({ target, headers })
