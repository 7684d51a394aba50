/**
 * The file with the id of a controller's process: for people, for scripts, and to name a process that does not answer.
 */

import { rename, rm, writeFile } from "node:fs/promises"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { unfinishedFile } from "../../files/durable.ts"
import { readPlainText } from "../../files/readPlainText.ts"
import { retryHeldOpen } from "../../files/systemError.ts"
import { messageOf } from "../../internal/SerializedError.ts"

/** Writes the id of this process in one step, and removes the file when the scope ends. */
export const keepPidFile = (path: string): Effect.Effect<void, never, Scope.Scope> => {
  const unfinished = unfinishedFile(path)
  const write = Effect.zipRight(
    attempt(() => writeFile(unfinished, `${process.pid}\n`, { flag: "wx", mode: 0o600 })),
    retryHeldOpen(attempt(() => rename(unfinished, path)))
  )
  return Effect.acquireRelease(
    Effect.catchAll(write, (error) =>
      // A full disk must not prevent the start.
      Effect.zipRight(
        remove(unfinished),
        Effect.logWarning(`${path} could not be written: ${messageOf(error)}`)
      )
    ),
    () => remove(path)
  )
}

const attempt = <A>(action: () => Promise<A>) => Effect.tryPromise({ try: action, catch: (error) => error })

const remove = (path: string) => Effect.ignore(retryHeldOpen(attempt(() => rm(path, { force: true }))))

/**
 * The id in the file. Unless a process listens at the controller's socket, the id may belong to a killed process, or to
 * an unrelated one that got the same number since.
 */
export const readPidFile = (path: string): Effect.Effect<Option.Option<number>> =>
  Effect.orElseSucceed(readPlainText(path), () => "").pipe(
    Effect.map((text) => (/^\d+\n$/.test(text) ? Option.some(Number(text)) : Option.none()))
  )
