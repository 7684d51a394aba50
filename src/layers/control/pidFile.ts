/**
 * The id of a controller's process in a file: for people, for their scripts, and to name one that does not answer.
 */
import { rename, rm, writeFile } from "node:fs/promises"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { unfinishedFile } from "../../files/durable.ts"
import { retryHeldOpen } from "../../files/heldOpen.ts"
import { readPlainText } from "../../files/readPlainText.ts"
import { messageOf } from "../../internal/SerializedError.ts"

/** Writes the id of this process as a whole, and removes it with the scope. */
export const keepPidFile = (path: string): Effect.Effect<void, never, Scope.Scope> => {
  const unfinished = unfinishedFile(path)
  const write = Effect.zipRight(
    attempt(() => writeFile(unfinished, `${process.pid}\n`, { flag: "wx", mode: 0o600 })),
    retryHeldOpen(attempt(() => rename(unfinished, path)))
  )
  return Effect.acquireRelease(
    Effect.catchAll(write, (error) =>
      // A disk that is full is no reason not to start.
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
 * The id that the file holds. It may be that of a process that was killed, or of whatever has its number since,
 * unless somebody listens at the controller's socket.
 */
export const readPidFile = (path: string): Effect.Effect<Option.Option<number>> =>
  Effect.orElseSucceed(readPlainText(path), () => "").pipe(
    Effect.map((text) => (/^\d+\n$/.test(text) ? Option.some(Number(text)) : Option.none()))
  )
