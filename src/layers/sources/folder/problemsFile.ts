/**
 * `VITRINE-PROBLEMS.txt` in a folder: the problems of its content, for the people who edit it.
 *
 * The file is no content, and is removed when all problems are solved.
 */

import { access, lstat } from "node:fs/promises"
import { basename, dirname, join } from "node:path"
import * as FileSystem from "@effect/platform/FileSystem"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import { toError } from "../../../files/fileBatch.ts"
import { isHeldOpen } from "../../../files/systemError.ts"
import type { Language } from "../../../internal/englishMistakes.ts"
import { mistakeText } from "../../../internal/mistake.ts"
import { printableLine } from "../../../internal/printable.ts"
import { messageOf } from "../../../internal/SerializedError.ts"
import { makeWarnWhile } from "../../../internal/warnOnce.ts"
import type { SourceProblem } from "../../../services/ContentSource.ts"
import type { FolderCall } from "./folderCalls.ts"
import { readFile } from "./folderFiles.ts"
import { problemsName, seenOf } from "./lookAtFolder.ts"

/** The problems of a source, and whether the screens show something of its folder already. */
interface Reported {
  readonly problems: ReadonlyArray<SourceProblem>
  readonly hadContent: boolean
}

/** Sources of one folder share its file: their problems, by the ids of the sources. */
const makeShared = () => ({
  problems: new Map<string, Reported>(),
  oneAtATime: Effect.unsafeMakeSemaphore(1)
})

const sharedFiles = new Map<string, ReturnType<typeof makeShared>>()

/**
 * Makes the writer of the file in a folder (absolute path) for the source with this id. The first failure to write is
 * logged, and the next one only after a success.
 */
export const makeProblemsFile = Effect.fnUntraced(function* (
  source: string,
  directory: string,
  language: Language,
  call: FolderCall
) {
  const place = join(directory, problemsName)
  const shared = sharedFiles.get(directory) ?? makeShared()
  sharedFiles.set(directory, shared)
  yield* Effect.addFinalizer(() => Effect.sync(() => shared.problems.delete(source)))
  const warning = makeWarnWhile((message) => `${place} cannot be written: ${message}`)
  /** The text of the file, which is read only if it is as long as the next one; otherwise it is empty. */
  const before = (next = "") =>
    Effect.tryPromise(() => lstat(place)).pipe(
      Effect.filterOrFail((stats) => stats.isFile()),
      Effect.flatMap((stats) =>
        stats.size === Buffer.byteLength(next)
          ? readFile({ path: problemsName, place, call, ...seenOf(stats) })
          : Effect.succeed(new Uint8Array())
      ),
      Effect.map((bytes) => `\ufeff${new TextDecoder().decode(bytes)}`),
      Effect.option,
      Effect.map(Option.getOrUndefined)
    )
  const write = Effect.gen(function* () {
    // A folder that hangs would keep one more thread for each try to write.
    yield* Effect.tryPromise({ try: () => call(() => access(directory)), catch: toError })
    const next = problemsText([...shared.problems.values()], language)
    const text = yield* before(next)
    // If nothing had to be written, it is unknown whether writing would work.
    if (yield* replace(place, text, next)) yield* warning.works
  }).pipe(
    Effect.catchAllCause((cause) => warning.fails(messageOf(Cause.squash(cause)))),
    shared.oneAtATime.withPermits(1)
  )
  return {
    report: (reported: Reported) =>
      Effect.zipRight(
        Effect.sync(() => shared.problems.set(source, reported)),
        write
      ),
    /** Retries a failed write, for example after an editor had the file open. */
    writeAgain: Effect.asVoid(Effect.whenEffect(write, warning.isFailing))
  }
})

/**
 * Replaces or removes the file, and returns whether this was needed. A fetch waits for it, so it is retried for half
 * a second only.
 */
const replace = Effect.fnUntraced(function* (
  place: string,
  before: string | undefined,
  next: string | undefined
) {
  const fileSystem = yield* FileSystem.FileSystem
  // One name for all, so that killed processes leave at most one file.
  const temporary = join(dirname(place), `.${basename(place)}.tmp`)
  yield* Effect.ignore(fileSystem.remove(temporary, { force: true }))
  if (before === next) return false
  // `wx` fails for a link that somebody may have put there.
  if (next !== undefined) yield* fileSystem.writeFileString(temporary, next, { flag: "wx" })
  const last = next === undefined ? fileSystem.remove(place) : fileSystem.rename(temporary, place)
  yield* Effect.retry(last, { while: isHeldOpen, times: 3, schedule: Schedule.spaced("150 millis") })
  return true
})

/**
 * The text of the file: UTF-8 with a byte order mark, and line ends of Windows, for all editors. `undefined` if there
 * are no problems.
 */
const problemsText = (all: ReadonlyArray<Reported>, language: Language): string | undefined => {
  const problems = all.flatMap(({ problems }) => problems)
  if (problems.length === 0) return undefined
  const { rejected, rejectedFirst, shown, title, todo } = language.file
  const isRejected = problems.some(({ isRejected }) => isRejected)
  const texts = problems.map(({ mistake, text }) =>
    printableLine(mistake === undefined ? text : mistakeText(mistake, language), 2000)
  )
  const lines = [
    title,
    "",
    isRejected ? (all.some(({ hadContent }) => hadContent) ? rejected : rejectedFirst) : shown,
    "",
    ...[...new Set(texts)].flatMap((text, index) => [`${index + 1}. ${text}`, ""]),
    ...todo,
    ""
  ]
  return `\ufeff${lines.join("\r\n")}`
}
