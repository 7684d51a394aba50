/**
 * Files that are reused from another folder.
 */

import { copyFile, link, mkdir, rm } from "node:fs/promises"
import { dirname, join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Effect from "effect/Effect"
import { forEachFile, toError } from "./fileBatch.ts"
import { remove, retryHeldOpen } from "./systemError.ts"

/** Links a file, or copies it. Returns whether it is a link. If both fail, no part of the file is left. */
export const linkOrCopy = (from: string, to: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fileSystem) =>
    Effect.catchAll(Effect.as(fileSystem.link(from, to), true), () =>
      retryHeldOpen(fileSystem.copyFile(from, to)).pipe(
        Effect.tapError(() => Effect.ignore(remove(to))),
        Effect.as(false)
      )
    )
  )

/** As `linkOrCopy`, for many files by their paths in the folder; it makes their folders. */
export const linkOrCopyAll = Effect.fnUntraced(function* (files: Iterable<string>, from: string, to: string) {
  const all = [...files]
  const folders = new Set([to, ...all.map((file) => dirname(join(to, file)))])
  yield* forEachFile(folders, (folder) => mkdir(folder, { recursive: true }), toError)
  yield* forEachFile(
    all,
    async (file) => {
      const place = join(to, file)
      await link(join(from, file), place).catch(() =>
        copyFile(join(from, file), place).catch(async (cause) => {
          await rm(place, { force: true }).catch(() => undefined)
          throw cause
        })
      )
    },
    toError
  )
})
