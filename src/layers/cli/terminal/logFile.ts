/**
 * A log file of limited size.
 */

import { appendFile, mkdir, rename, stat } from "node:fs/promises"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import { makePath } from "../../../files/durable.ts"
import { explain, isDiskFull } from "../../../files/systemError.ts"
import { CliError } from "../command.ts"

/**
 * Opens the file and appends lines until the scope ends, when all lines are written. At 5 MiB the file is renamed to `<file>.1` and a
 * new file begins; four old files are kept. Lines that cannot be written, for example to a full disk, are lost, but later lines are
 * not. If somebody moves or removes the file, the next line makes it again; if somebody replaces it, the new file is used.
 *
 * While the disk hangs, at most 8 MiB of lines are kept for it. Further lines are lost, and `write` returns `false` for them.
 */
export const openLogFile = Effect.fnUntraced(function* (file: string) {
  const path = yield* Path.Path
  yield* makeSure(file)
  const { write } = yield* Effect.acquireRelease(
    Effect.sync(() => makeWriter(path.dirname(file), file)),
    ({ end }) => end
  )
  return write
})

/** Fails if the file cannot be opened for writing. A full disk is no failure, because it may have room later. */
const makeSure = (file: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    yield* makePath(path.dirname(file))
    yield* Effect.scoped(fs.open(file, { flag: "a", mode: 0o600 }))
  }).pipe(
    Effect.catchIf(isDiskFull, () => Effect.void),
    Effect.mapError(
      (error) =>
        new CliError({
          message: `The log cannot be written to ${file}: ${explain(error)} Name another file with --log-file FILE.`
        })
    )
  )

/** With this many bytes that are not written yet, further lines are lost. */
const maxHeld = 8 * 1024 * 1024

/** How many bytes are written at once, except for a line that is longer. */
const maxBatch = 1024 * 1024

const maxSize = 5 * 1024 * 1024

const maxOld = 4

/** Opens the file by its name for each batch: it may have been moved, replaced or removed since the last batch. */
const makeWriter = (folder: string, file: string) => {
  const held: Array<string> = []
  let heldBytes = 0
  let writing: Promise<void> | undefined

  const writeAll = async () => {
    while (held.length > 0) {
      const batch = takeBatch(held)
      await append(folder, file, batch).catch(() => {})
      heldBytes -= Buffer.byteLength(batch)
    }
    writing = undefined
  }

  return {
    write: (line: string): boolean => {
      if (heldBytes >= maxHeld) return false
      held.push(`${line}\n`)
      heldBytes += Buffer.byteLength(line) + 1
      writing ??= writeAll()
      return true
    },
    end: Effect.promise(async () => writing)
  }
}

const takeBatch = (lines: Array<string>): string => {
  let count = 0
  for (let bytes = 0; count < lines.length && bytes < maxBatch; count++) {
    bytes += Buffer.byteLength(lines[count] ?? "")
  }
  return lines.splice(0, count).join("")
}

const append = async (folder: string, file: string, text: string) => {
  const { size } = await stat(file).catch(() => ({ size: 0 }))
  if (size >= maxSize) await rotate(file)
  await mkdir(folder, { recursive: true })
  await appendFile(file, text, { mode: 0o600 })
}

/** A file that cannot be renamed becomes larger, and the old files stay. */
const rotate = async (file: string) => {
  const full = `${file}.full`
  if (!(await isRenamed(file, full))) return
  for (let old = maxOld; old > 1; old--) {
    await isRenamed(`${file}.${old - 1}`, `${file}.${old}`)
  }
  await isRenamed(full, `${file}.1`)
}

const isRenamed = (from: string, to: string): Promise<boolean> =>
  rename(from, to).then(
    () => true,
    () => false
  )
