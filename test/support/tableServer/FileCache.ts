/**
 * What was made of the files of a folder, made again when a file has changed.
 *
 * A file counts as changed when its modification time or size has, or when it was changed only a moment before it
 * was read: file systems tell times in steps.
 */
import type { PlatformError } from "@effect/platform/Error"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Path from "@effect/platform/Path"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { explain } from "../../../src/files/systemError.ts"
import { english } from "../../../src/internal/englishMistakes.ts"
import { sentenceOf } from "../../../src/internal/mistake.ts"
import { decodeText } from "../../../src/layers/documents/textMistakes.ts"

/** What is wrong with a file of the folder of tables, for its editors. */
export class InvalidTableFile extends Schema.TaggedError<InvalidTableFile>()("vitrine/InvalidTableFile", {
  /** Its name, without the folder. */
  file: Schema.String,
  /** Counted from 1, where it is known. */
  line: Schema.optional(Schema.Number),
  column: Schema.optional(Schema.Number),
  problem: Schema.String
}) {
  override get message() {
    return `${english.place({ name: this.file, line: this.line, column: this.column })}: ${this.problem}`
  }
}

/**
 * Gives what a file holds now. What is wrong with it is logged once for each change of the file. What a file held that is gone
 * stays in memory.
 *
 * `load` gets the name of a file and its real path, which is in the directory: links out of it are refused.
 */
export const make = <A>(
  directory: string,
  load: (file: string, path: string) => Effect.Effect<A, InvalidTableFile | PlatformError>
) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const entries = new Map<string, Entry<A>>()
    const oneAtATime = yield* Effect.makeSemaphore(1)

    const placeOf = Effect.fnUntraced(function* (file: string) {
      const [root, place] = yield* Effect.all([
        fs.realPath(directory),
        fs.realPath(path.join(directory, file))
      ])
      return place.startsWith(root + path.sep)
        ? place
        : yield* new InvalidTableFile({ file, problem: "is a link that leads out of the folder." })
    })

    const readAnew = (file: string, known: Entry<A> | undefined) =>
      Effect.gen(function* () {
        const info = yield* fs.stat(path.join(directory, file))
        const modified = Option.match(info.mtime, { onNone: () => 0, onSome: (time) => time.getTime() })
        const stamp = `${modified} ${info.size}`
        if (known?.stamp === stamp && known.isSettled) {
          return known
        }
        const isSettled = Date.now() - modified > timeStepMs
        const content = yield* load(file, yield* placeOf(file)).pipe(
          Effect.map((loaded): Entry<A>["content"] => Either.right(loaded)),
          Effect.catchTag("vitrine/InvalidTableFile", (error) => Effect.succeed(Either.left(error)))
        )
        return { stamp, isSettled, content }
      }).pipe(Effect.catchAll((error) => Effect.succeed(unreadable<A>(file, error))))

    return Effect.fn("FileCache.get")(function* (file: string) {
      const known = entries.get(file)
      const entry = yield* readAnew(file, known)
      entries.set(file, entry)
      if (Either.isLeft(entry.content) && entry.stamp !== known?.stamp) {
        yield* Effect.logWarning(entry.content.left.message)
      }
      return yield* entry.content
    }, oneAtATime.withPermits(1))
  })

/** As `make`, of files that hold text. */
export const makeOfText = <A>(
  directory: string,
  parse: (file: string, text: string) => Either.Either<A, InvalidTableFile>
) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    make(directory, (file, path) =>
      Effect.flatMap(fs.readFile(path), (bytes) =>
        Either.flatMap(
          Either.mapLeft(
            decodeText(bytes),
            (mistake) => new InvalidTableFile({ file, problem: sentenceOf(mistake) })
          ),
          (text) => parse(file, text)
        )
      )
    )
  )

/** Longer than any file system's. */
const timeStepMs = 2000

interface Entry<A> {
  /** Differs where the file has changed. */
  readonly stamp: string
  /** Whether a change after this one could not have the same stamp. */
  readonly isSettled: boolean
  readonly content: Either.Either<A, InvalidTableFile>
}

const unreadable = <A>(file: string, error: InvalidTableFile | PlatformError): Entry<A> => ({
  stamp: error.message,
  isSettled: true,
  content: Either.left(
    error._tag === "vitrine/InvalidTableFile"
      ? error
      : new InvalidTableFile({ file, problem: `cannot be read: ${explain(error)}` })
  )
})
