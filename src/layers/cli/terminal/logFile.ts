/**
 * A log in a file that does not grow for ever.
 */
import { stat } from "node:fs/promises"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import { createStream, type RotatingFileStream } from "rotating-file-stream"
import { makePath } from "../../../files/makePath.ts"
import { explain, isDiskFull } from "../../../files/systemError.ts"
import { CliError } from "../CliError.ts"

/**
 * Opens the file, to which lines are appended until the scope ends; by then they are written. At 5 MiB it is renamed to
 * `<file>.1` and a new one is begun; four old ones are kept. Lines that cannot be written later, because the disk is full
 * for example, are lost, and those that come afterwards are not. A file that somebody has moved or removed is made again, and one that
 * somebody has put in its place is used, within a second.
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

/** That the file is there and can be written; a disk that is full now may have room later. */
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

/** How often it is checked at most that the open file is the one of that name, in milliseconds. */
const lookMs = 1000

/** Which file has the name now, whoever made it; a file that cannot be found is no file. */
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
    // A stream that has failed stays closed: the next line has a new one.
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
  }

  return {
    write: (line: string) => {
      if (looking === undefined && performance.now() - lookedAt > lookMs) {
        looking = look()
      }
      if (looking === undefined) {
        append(line)
      } else {
        waiting.push(line)
      }
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
