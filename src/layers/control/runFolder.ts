/**
 * The controller of a folder: its process id, and whether it has the lock.
 */
import { rename, rm, writeFile } from "node:fs/promises"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { unfinishedFile } from "../../files/durable.ts"
import { lockHolder } from "../../files/folderLock.ts"
import { readPlainText } from "../../files/readPlainText.ts"
import { retryHeldOpen } from "../../files/systemError.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import { type ControllerPaths, pathsOf } from "./controllerPaths.ts"

/** As `pathsOf`. */
export const locateController = (folder: string, runFolder?: string): Effect.Effect<ControllerPaths> =>
  Effect.promise(() => pathsOf(folder, runFolder))

/** The controller of a folder, whether it runs or not. */
export interface FoundController {
  /** Whether it has the lock of its folder. */
  readonly isRunning: boolean
  /** The process id in its answer, or else in its file. Neither is proof. */
  readonly pid: number | undefined
  /** Waits until it no longer has the lock. */
  readonly ended: Effect.Effect<void>
}

/**
 * Finds out whether a controller runs, by the lock of its folder. This works even if nothing listens at its socket:
 * while it starts or stops, or after somebody removed the socket. The file with its process id is for people, for
 * scripts, and to name a process that does not answer.
 */
export const findController = Effect.fnUntraced(function* ({ folder, pidFile }: ControllerPaths) {
  const holder = yield* lockHolder(folder)
  const written = yield* readPidFile(pidFile)
  const toldPid = Option.flatMap(holder, ({ pid }) => pid)
  const controller: FoundController = {
    isRunning: Option.isSome(holder),
    pid: Option.getOrUndefined(Option.orElse(toldPid, () => written)),
    ended: Option.match(holder, { onNone: () => Effect.void, onSome: ({ isHeld }) => untilNot(isHeld) })
  }
  return controller
})

/** Checks every 50 milliseconds whether the condition is still true. */
const untilNot = (condition: Effect.Effect<boolean>): Effect.Effect<void> =>
  Effect.asVoid(
    Effect.repeat(condition, { until: (isTrue) => !isTrue, schedule: Schedule.spaced("50 millis") })
  )

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
