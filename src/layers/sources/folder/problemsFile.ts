/**
 * `VITRINE-PROBLEMS.txt` in a folder: what is wrong with its content, where the people who edit it see it.
 *
 * The file is no content, and goes when all is right. Since when there is a problem is read from the file, so that it survives a
 * restart.
 */
import { lstat } from "node:fs/promises"
import { join } from "node:path"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { replaceFile } from "../../../internal/durable.ts"
import { remove } from "../../../internal/heldOpen.ts"
import { printableLine } from "../../../internal/printable.ts"
import { messageOf } from "../../../internal/SerializedError.ts"
import { makeWarnWhile } from "../../../internal/warnOnce.ts"
import type { SourceProblem } from "../../../services/ContentSource.ts"
import { readFile } from "./folderFiles.ts"
import { problemsName, seenOf } from "./lookAtFolder.ts"

/** Makes what keeps the file of a folder (absolute path). A folder that cannot be written is logged once. */
export const makeProblemsFile = (directory: string) => {
  const place = join(directory, problemsName)
  const warning = makeWarnWhile((message) => `${place} cannot be written: ${message}`)
  const before = Effect.tryPromise(() => lstat(place)).pipe(
    Effect.flatMap((stats) => readFile({ path: problemsName, place, ...seenOf(stats) })),
    Effect.map((bytes) => new TextDecoder().decode(bytes)),
    Effect.orElseSucceed(() => "")
  )
  return (problems: ReadonlyArray<SourceProblem>) =>
    Effect.gen(function* () {
      if (problems.length === 0) return yield* remove(place)
      const text = yield* before
      const next = problemsText(problems, sinceIn(text), minuteText(new Date(yield* Clock.currentTimeMillis)))
      if (next !== `\ufeff${text}`) yield* replaceFile(place, next)
    }).pipe(
      Effect.matchCauseEffect({
        onFailure: (cause) => warning.fails(messageOf(cause)),
        onSuccess: () => warning.works
      })
    )
}

const sincePrefix = "   Since "

/** The text of the file: UTF-8 with a mark, and line ends of Windows, so that every editor shows it. `since` is by problem. */
export const problemsText = (
  problems: ReadonlyArray<SourceProblem>,
  since: ReadonlyMap<string, string>,
  now: string
): string => {
  const lines = [
    "Vitrine: problems in this folder",
    "",
    problems.some(({ isRejected }) => isRejected)
      ? "The changes in this folder are NOT shown. The screens keep what they showed before."
      : "The content of this folder is shown. Please look at this:",
    "",
    ...problems.flatMap(({ text }, index) => {
      const line = oneLine(text)
      return [`${index + 1}. ${line}`, `${sincePrefix}${since.get(line) ?? now}`, ""]
    }),
    "What to do: correct the files that are named above, and save them. This file goes away by itself",
    "a few seconds later. It is not part of the exhibition.",
    ""
  ]
  return `\ufeff${lines.join("\r\n")}`
}

/** Since when there are the problems of a text of the file, by the problems. */
export const sinceIn = (text: string): ReadonlyMap<string, string> => {
  const lines = text.split("\r\n")
  return new Map(
    lines.flatMap((line, index) => {
      const next = lines[index + 1] ?? ""
      const [, problem] = /^\d+\. (.*)$/.exec(line) ?? []
      return problem === undefined || !next.startsWith(sincePrefix)
        ? []
        : [[problem, printableLine(next.slice(sincePrefix.length), 20)] as const]
    })
  )
}

const oneLine = (text: string): string => printableLine(text, 2000)

const two = (number: number): string => String(number).padStart(2, "0")

/** `2026-12-01 09:00`, local time. */
const minuteText = (date: Date): string =>
  `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}`
