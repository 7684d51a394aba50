/**
 * The folder of a running controller, beside its configuration: the paths of its socket and its process id, by which a
 * controller and its clients meet, and whether a controller has its lock.
 */
import { realpath, rename, rm, writeFile } from "node:fs/promises"
import { basename, dirname, join, posix, resolve, win32 } from "node:path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schedule from "effect/Schedule"
import type * as Scope from "effect/Scope"
import { unfinishedFile } from "../../files/durable.ts"
import { lockHolder, pipePath, socketFile } from "../../files/folderLock.ts"
import { readPlainText } from "../../files/readPlainText.ts"
import { retryHeldOpen } from "../../files/systemError.ts"
import { messageOf } from "../../internal/SerializedError.ts"

export interface ControllerPaths {
  /** The folder for the files of a running controller. */
  readonly folder: string
  /** The socket, or the named pipe. */
  readonly socket: string
  /** The file with the id of the controller's process, in decimal digits. */
  readonly pidFile: string
}

/**
 * The socket and the process id of the controller with this folder: `<folder>/controller.sock` (or the place that
 * `socketFile` chooses), on Windows `\\.\pipe\vitrine-<hash>`, and `<folder>/controller.pid`.
 *
 * `folder` is a real, absolute path: the same folder must always have the same name, on Windows except for letter case.
 */
export const controllerPaths = (folder: string, platform: NodeJS.Platform): ControllerPaths => {
  if (platform === "win32") {
    const own = win32.normalize(folder)
    return {
      folder: own,
      socket: pipePath(win32.join(own, "controller.sock")),
      pidFile: win32.join(own, "controller.pid")
    }
  }
  return {
    folder,
    socket: socketFile(folder, "controller.sock", platform),
    pidFile: posix.join(folder, "controller.pid")
  }
}

/**
 * The paths of the controller whose configuration is in `folder`. Its files are in `runFolder`, by default `.vitrine`
 * in that folder. The path of a missing folder is used as given.
 */
export const locateController = (folder: string, runFolder?: string): Effect.Effect<ControllerPaths> =>
  Effect.promise(async () => {
    const own = resolve(runFolder ?? join(folder, ".vitrine"))
    return controllerPaths(join(await real(dirname(own)), basename(own)), process.platform)
  })

const real = (folder: string) => realpath(folder).catch(() => folder)

/** Trusts files of this user; root trusts all. Always true on Windows. */
export const isTrustedOwner = (uid: number): boolean => {
  const own = process.getuid?.()
  return own === undefined || own === 0 || own === uid
}

/** The controller of a folder, whether it runs or not. */
export interface FoundController {
  /** Whether it has the lock of its folder. */
  readonly isRunning: boolean
  /** The process id that it told, or else the one in its file. Neither is proof. */
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
