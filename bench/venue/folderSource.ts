/**
 * A source of content: the files of a folder. Files that the active version has already are linked.
 */
import { createHash } from "node:crypto"
import { copyFile, link, readdir, stat, utimes } from "node:fs/promises"
import { join } from "node:path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { type ContentSource, SourceError } from "vitrine"

export const folderSource = (id: string, folder: string): ContentSource.ContentSourceDefinition => ({
  id,
  issues: [],
  make: Effect.succeed({
    id,
    fetch: (target) =>
      Effect.tryPromise({
        try: () => copy(folder, target),
        catch: (cause) => new SourceError({ source: id, cause })
      })
  })
})

const copy = async (folder: string, { directory, previous }: ContentSource.FetchTarget) => {
  const before = Option.getOrUndefined(previous)
  const fingerprint = createHash("sha256")
  let bytes = 0
  const names = (await readdir(folder)).sort()
  for (const name of names) {
    const [from, to] = [join(folder, name), join(directory, name)]
    const { mtime, size } = await stat(from)
    fingerprint.update(`${name} ${size} ${mtime.getTime()}\n`)
    bytes += size
    if (before?.files[name]?.size === size && (await isOf(join(before.directory, name), mtime))) {
      await link(join(before.directory, name), to)
    } else {
      await copyFile(from, to)
      await utimes(to, mtime, mtime)
    }
  }
  return { fingerprint: fingerprint.digest("hex"), records: names.length, bytes }
}

const isOf = async (file: string, time: Date) => (await stat(file)).mtime.getTime() === time.getTime()
