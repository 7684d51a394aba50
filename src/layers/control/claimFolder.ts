/**
 * Claims the folder that a controller keeps beside its configuration, so that only one controller runs with it.
 */
import { chmod, lstat, mkdir, rm } from "node:fs/promises"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { removeUnfinished } from "../../files/durable.ts"
import { lockFolder } from "../../files/folderLock.ts"
import { messageOf, OptionalErrorChain } from "../../internal/SerializedError.ts"
import { errorCode } from "../../internal/serializeError.ts"
import { type ControllerPaths, isTrustedOwner } from "./controllerPaths.ts"
import * as IpcClientSocket from "./IpcClientSocket.ts"
import { keepPidFile, readPidFile } from "./runFolder.ts"

/** Another controller runs with the configuration. */
export class ControllerAlreadyRunning extends Schema.TaggedError<ControllerAlreadyRunning>()(
  "vitrine/ControllerAlreadyRunning",
  {
    /** The folder that it has locked. */
    path: Schema.String,
    /** The process, if known. */
    owner: Schema.String
  }
) {
  override get message() {
    return `A controller is already running here (${this.owner}; it has locked ${this.path}). Stop it first with "vitrine stop", or give this controller its own folder.`
  }
}

/** The socket cannot be made at its place. */
export class IpcSocketUnusable extends Schema.TaggedError<IpcSocketUnusable>()("vitrine/IpcSocketUnusable", {
  path: Schema.String,
  /** The reason, and the remedy if it is known. */
  detail: Schema.String,
  cause: OptionalErrorChain
}) {
  override get message() {
    return `The controller's socket cannot be used at ${this.path}: ${this.detail}`
  }
}

/**
 * Claims the folder until the scope ends. Then the folder exists and belongs to this user, no process listens at the
 * socket, no file is in its place, and the file with the process id is written.
 */
export const claimFolder = Effect.fnUntraced(function* (paths: ControllerPaths, folder: RunFolder) {
  yield* ownFolder(paths.folder, folder)
  yield* lockFolder(paths.folder, paths.folder).pipe(
    Effect.catchTags({
      "vitrine/FolderLocked": ({ owner, path, pid }) =>
        pid === undefined ? refuseMute(paths, path, owner) : new ControllerAlreadyRunning({ path, owner }),
      "vitrine/FolderLockFailed": ({ cause, path }) => unusable(path)(cause)
    })
  )
  if (process.platform !== "win32") {
    yield* removeDeadSocket(paths)
  }
  yield* Effect.ignore(Effect.tryPromise(() => removeUnfinished(paths.folder)))
  yield* keepPidFile(paths.pidFile)
})

/** A process that does not tell its id may have written it to the file. */
const refuseMute = ({ pidFile }: ControllerPaths, path: string, owner: string) =>
  Effect.flatMap(
    readPidFile(pidFile),
    (pid) =>
      new ControllerAlreadyRunning({
        path,
        owner: Option.match(pid, {
          onNone: () => owner,
          onSome: (pid) => `process ${pid}, which does not answer`
        })
      })
  )

export const unusable = (path: string) => (cause: unknown) =>
  new IpcSocketUnusable({ path, detail: messageOf(cause), cause })

const attempt = <A>(path: string, action: () => Promise<A>) =>
  Effect.tryPromise({ try: action, catch: unusable(path) })

/** Who chose the folder for the socket and the process id: the program (`own`) or the user (`named`). */
export type RunFolder = "own" | "named"

/**
 * Makes a folder that only this user may enter, or checks the existing one. A folder of the program's own choice is
 * closed to other users. A folder that the user named stays unchanged, and is refused if other users may enter it.
 */
const ownFolder = Effect.fnUntraced(function* (path: string, folder: RunFolder) {
  yield* Effect.catchIf(
    Effect.tryPromise({
      try: () => mkdir(path, { mode: 0o700, recursive: folder === "named" }),
      catch: (cause) => new IpcSocketUnusable({ path, detail: folderProblem(cause), cause })
    }),
    ({ cause }) => errorCode(cause) === "EEXIST",
    () => Effect.void
  )
  const stats = yield* attempt(path, () => lstat(path))
  if (!stats.isDirectory()) {
    const detail = "it is a file or a link, and must be a folder. Move it away."
    return yield* new IpcSocketUnusable({ path, detail })
  }
  if (process.platform === "win32") {
    return
  }
  yield* belongsToUser(path, stats)
  if (folder === "own") {
    yield* attempt(path, () => chmod(path, 0o700))
  } else if ((stats.mode & 0o077) !== 0) {
    const mode = (stats.mode & 0o777).toString(8)
    const detail = `other users may enter it (its mode is ${mode}). Set its mode to 700, or name a folder that does not exist yet.`
    return yield* new IpcSocketUnusable({ path, detail })
  }
})

/** Why a folder could not be made. A service often may not write beside its configuration. */
export const folderProblem = (error: unknown): string =>
  ["EACCES", "EPERM", "EROFS"].includes(errorCode(error) ?? "")
    ? `${messageOf(error)}. Name a folder that this user may write with --run-dir.`
    : messageOf(error)

const belongsToUser = (path: string, stats: { readonly uid: number }) =>
  isTrustedOwner(stats.uid)
    ? Effect.void
    : new IpcSocketUnusable({
        path,
        detail: `it belongs to another user (${stats.uid}). Remove it as that user.`
      })

/** Only the holder of the lock may remove the remains of a killed process, and only a socket. */
const removeDeadSocket = Effect.fnUntraced(function* (paths: ControllerPaths) {
  const path = paths.socket
  const stats = yield* attempt(path, () => lstat(path)).pipe(
    Effect.catchIf(
      ({ cause }) => errorCode(cause) === "ENOENT",
      () => Effect.succeed(undefined)
    )
  )
  if (stats === undefined) {
    return
  }
  if (!stats.isSocket()) {
    const detail = "it is a file, a folder or a link, and must be a socket. Move it away."
    return yield* new IpcSocketUnusable({ path, detail })
  }
  // If the lock was removed, for example by hand, its holder still listens.
  yield* Effect.flatMap(IpcClientSocket.make(path), (client) => client.process).pipe(
    Effect.matchEffect({
      onSuccess: ({ pid }) => new ControllerAlreadyRunning({ path, owner: `process ${pid}` }),
      onFailure: (error) =>
        error._tag === "vitrine/ControllerNotRunning" ? Effect.void : refuseMute(paths, path, error.message)
    })
  )
  yield* attempt(path, () => rm(path, { force: true }))
})
