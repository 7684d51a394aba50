/**
 * Steps of tests of a `VersionStore`: versions that are made, and what is read of them.
 */
import { dirname, join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/TestClock"
import { FileListJson, fileListText } from "../../src/files/FileList.ts"
import { sha256OfText } from "../../src/files/sha256.ts"
import { type Manifest, type VersionCopy, VersionStore } from "../../src/services/VersionStore.ts"

/** Stages one source with one file and promotes it. */
export const promote = (content: string) => promoteSources({ objects: { "Objects.json": content } })

/** Stages sources with their files and promotes them; the fingerprint of each is what is in its files. */
export const promoteSources = (sources: Readonly<Record<string, Readonly<Record<string, string>>>>) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const staged = yield* Effect.flatMap(VersionStore, ({ stage }) => stage)
    for (const [sourceId, files] of Object.entries(sources)) {
      const directory = yield* staged.sourceDirectory(sourceId)
      for (const [name, content] of Object.entries(files)) {
        const file = join(directory, name)
        yield* fs.makeDirectory(dirname(file), { recursive: true })
        yield* fs.writeFileString(file, content)
      }
    }
    return yield* staged.promote(
      Object.entries(sources).map(([sourceId, files]) => ({
        sourceId,
        fingerprint: Object.values(files).join()
      }))
    )
  }).pipe(Effect.scoped)

export const previousOf = (sourceId: string) =>
  Effect.flatMap(VersionStore, ({ stage }) => stage).pipe(
    Effect.map((staged) => staged.previous(sourceId)),
    Effect.scoped
  )

/** The text of the latest version's `files.json`. */
export const latestFileList = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const { directory } = Option.getOrThrow(yield* previousOf("objects"))
  return yield* fs.readFileString(join(directory, "..", "files.json"))
})

/** The latest version, as a copy under another id. */
export const copyAs = (versionId: string) =>
  Effect.gen(function* () {
    const { list } = yield* latestList
    const fileList = fileListText({ ...list, versionId })
    const manifest: Manifest = {
      schemaVersion: 1,
      versionId,
      versionPath: `versions/${versionId}`,
      generatedAt: list.generatedAt,
      sources: list.sources.map(({ sourceId }) => ({ sourceId, path: sourceId })),
      filesSha256: sha256OfText(fileList)
    }
    return { manifest, fileList }
  })

export const latestList = Effect.flatMap(latestFileList, (text) =>
  Effect.map(Schema.decode(FileListJson)(text), (list) => ({ list, text }))
)

/** Stages files, by their paths in the version, and promotes them as the copy. */
export const promoteCopy = (copy: VersionCopy, files: Readonly<Record<string, string>>) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const staged = yield* Effect.flatMap(VersionStore, ({ stageCopy }) => stageCopy)
    const root = dirname(yield* staged.sourceDirectory("objects"))
    for (const [name, content] of Object.entries(files)) {
      yield* fs.makeDirectory(dirname(join(root, name)), { recursive: true })
      yield* fs.writeFileString(join(root, name), content)
    }
    return yield* staged.promote(copy)
  }).pipe(Effect.scoped)

export const promoteLater = (content: string) =>
  Effect.zipRight(TestClock.adjust("1 second"), promote(content))

export const versionIds = Effect.flatMap(VersionStore, ({ versions }) => versions).pipe(
  Effect.map((versions) => versions.map(({ versionId }) => versionId))
)

/** The content of the latest version: the active one, if none is held. */
export const latestContent = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const { previous } = yield* Effect.flatMap(VersionStore, ({ stage }) => stage)
  const { directory } = yield* previous("objects")
  return yield* fs.readFileString(join(directory, "Objects.json"))
}).pipe(Effect.scoped)
