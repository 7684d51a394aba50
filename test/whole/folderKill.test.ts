/**
 * A controller that is killed in the middle of a folder with many files.
 */
import { closeSync, ftruncateSync, mkdirSync, openSync, readdirSync, readFileSync, writeSync } from "node:fs"
import { join } from "node:path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { FileListJson, fileListName, filesOf } from "../../src/files/FileList.ts"
import { Manifest } from "../../src/services/VersionStore.ts"
import { movie } from "../rules/bytes.ts"
import { makeProject } from "../support/project.ts"
import { sha256 } from "../support/sha256.ts"
import { eventually } from "../support/waiting.ts"

const films = 200
const filmBytes = 2 << 20

/** No two alike, and nearly all of each is a hole in its last box: only a copy of it takes space on the disk. */
const writeFilms = (folder: string) => {
  mkdirSync(folder)
  const head = movie("isom", "avc1")
  const size = Buffer.alloc(4)
  size.writeUInt32BE(filmBytes - head.length)
  for (let index = 0; index < films; index++) {
    const file = openSync(join(folder, `film ${index}.mp4`), "w")
    writeSync(file, Buffer.concat([head, size, Buffer.from(`free${index}`)]))
    ftruncateSync(file, filmBytes)
    closeSync(file)
  }
}

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name, parentPath }) => join(parentPath, name))

const decodeManifest = Schema.decodeUnknownSync(Schema.parseJson(Manifest))
const decodeList = Schema.decodeUnknownSync(FileListJson)

/** The id of the active version, every file of which is as its list says, and how many it has. */
const readActive = (downloads: string) => {
  const { versionId, versionPath } = decodeManifest(readFileSync(join(downloads, "manifest.json"), "utf8"))
  const version = join(downloads, versionPath)
  const listed = filesOf(decodeList(readFileSync(join(version, fileListName), "utf8")))
  for (const [path, { sha256: digest }] of listed) {
    expect(sha256(readFileSync(join(version, path))), path).toBe(digest)
  }
  const files = [...listed].length
  expect(filesIn(version)).toHaveLength(files + 1)
  return { versionId, files }
}

it.scopedLive(
  "a controller that is killed while it copies a folder leaves the previous version, and the next controller copies all of it",
  () =>
    Effect.gen(function* () {
      const { folder, run, write } = yield* makeProject
      yield* write(
        "vitrine.config.ts",
        `import { content, defineConfig, folderSource } from "vitrine"
export default defineConfig({
  plugins: [content({ fetchEvery: "1 hour", sources: [folderSource({ id: "museum", directory: "content" })] })]
})
`
      )
      mkdirSync(join(folder, "content"))
      yield* write("content/objects.csv", "id,title\n1,Astrolabe\n")
      const downloads = join(folder, "downloads")
      const staging = join(downloads, ".staging")
      const staged = () => filesIn(staging).filter((file) => file.endsWith(".mp4"))

      const first = yield* run(["start"])
      const before = yield* first.logged(/New version (\S+):/)
      writeFilms(join(folder, "content/films"))
      yield* eventually(Effect.sync(() => staged().length > films / 10))
      yield* first.signal("SIGKILL")
      expect(yield* first.ended).toMatchObject({ status: "SIGKILL" })
      const unfinished = readdirSync(staging)
      expect(staged().length).toBeLessThan(films)
      expect(readActive(downloads)).toEqual({ versionId: before, files: 1 })

      const second = yield* run(["start"])
      const after = yield* second.logged(/New version (\S+):/)
      expect(readActive(downloads)).toEqual({ versionId: after, files: films + 1 })
      expect(readdirSync(join(downloads, "versions")).toSorted()).toEqual([before, after].toSorted())
      expect(readdirSync(staging).filter((name) => unfinished.includes(name))).toEqual([])
    }).pipe(Effect.provide(NodeContext.layer))
)
