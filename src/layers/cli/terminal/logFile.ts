/**
 * A log file of limited size.
 */

import { stat } from "node:fs/promises"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import { createStream, type RotatingFileStream } from "rotating-file-stream"
import { makePath } from "../../../files/durable.ts"
import { explain, isDiskFull } from "../../../files/systemError.ts"
import { CliError } from "../command.ts"

/**
 * Opens the file and appends lines until the scope ends, when all lines are written. At 5 MiB the file is renamed to `<file>.1` and a
 * new file begins; four old files are kept. Lines that cannot be written, for example to a full disk, are lost, but later lines are
 * not. If somebody moves or removes the file, it is made again within a second; if somebody replaces it, the new file is used.
 *
 * While the disk hangs, at most 8 MiB of lines are kept for it. Further lines are lost, and `write` returns `false` for them.
 */
export const openLogFile = Effect.fnUntraced(function* (file: string) {
  const path = yield* Path.Path
  yield* makeSure(file)
  const { write } = yield* Effect.acquireRelease(
    Effect.sync(() => openStream(path.dirname(file), path.basename(file), file)),
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

/** With this much of what is not written yet, in bytes, further lines are lost. */
const maxHeld = 8 * 1024 * 1024

/** The shortest time between checks that the open file still has the name, in milliseconds. */
const lookMs = 1000

/** Identifies the file that has the name now; `undefined` if there is none. */
const identityOf = (file: string): Promise<string> =>
  stat(file, { bigint: true }).then(
    ({ dev, ino }) => `${dev} ${ino}`,
    () => "none"
  )

const openStream = (folder: string, name: string, file: string) => {
  let current: RotatingFileStream | undefined
  let opened: Promise<string> | undefined
  let lookedAt = performance.now()
  let looking: Promise<void> | undefined
  const waiting: Array<string> = []
  let waitingBytes = 0

  const open = () => {
    const stream = createStream((index) => (index === null ? name : `${name}.${index}`), {
      path: folder,
      size: "5M",
      rotate: 4,
      mode: 0o600
    })
    stream.on("open", () => {
      opened = identityOf(file)
    })
    stream.on("rotation", () => {
      opened = undefined
    })
    // A failed stream stays closed: the next line opens a new stream.
    stream.on("error", () => {
      current = undefined
    })
    return stream
  }

  const append = (line: string) => {
    current ??= open()
    current.write(`${line}\n`)
  }

  const look = async () => {
    const [before, now] = await Promise.all([opened, identityOf(file)])
    if (before !== undefined && before !== now) {
      current?.end()
      current = undefined
    }
    lookedAt = performance.now()
    looking = undefined
    for (const line of waiting.splice(0)) append(line)
    waitingBytes = 0
  }

  return {
    write: (line: string): boolean => {
      if (waitingBytes + (current?.writableLength ?? 0) >= maxHeld) return false
      if (looking === undefined && performance.now() - lookedAt > lookMs) {
        looking = look()
      }
      if (looking === undefined) {
        append(line)
      } else {
        waiting.push(line)
        waitingBytes += Buffer.byteLength(line) + 1
      }
      return true
    },
    end: Effect.promise(async () => {
      await looking
      await new Promise<void>((resolve) => {
        if (current === undefined) {
          resolve()
        } else {
          current.end(resolve)
        }
      })
    })
  }
}
