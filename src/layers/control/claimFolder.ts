/**
 * One controller to a configuration: the folder it keeps beside that, and the claim to it.
 */
import { chmod, lstat, mkdir, rm } from "node:fs/promises"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { removeUnfinished } from "../../files/durable.ts"
import { messageOf, OptionalErrorChain } from "../../internal/SerializedError.ts"
import { errorCode } from "../../internal/serializeError.ts"
import { lockFolder } from "../folderLock/folderLock.ts"
import * as IpcClientSocket from "./IpcClientSocket.ts"
import { keepPidFile, readPidFile } from "./pidFile.ts"
import { type ControllerPaths, isTrustedOwner } from "./socketPath.ts"

/** Another controller runs with the configuration. */
export class ControllerAlreadyRunning extends Schema.TaggedError<ControllerAlreadyRunning>()(
  "vitrine/ControllerAlreadyRunning",
  {
    /** The folder that it holds. */
    path: Schema.String,
    /** The process, if known. */
    owner: Schema.String
  }
) {
  override get message() {
    return `A controller is already running here (${this.owner}; it holds ${this.path}). Stop it first with "vitrine stop", or give this one a folder of its own.`
  }
}

/** There can be no socket where it is to be. */
export class IpcSocketUnusable extends Schema.TaggedError<IpcSocketUnusable>()("vitrine/IpcSocketUnusable", {
  path: Schema.String,
  /** What is wrong and, where it is known, what to do. */
  detail: Schema.String,
  cause: OptionalErrorChain
}) {
  override get message() {
    return `The controller's socket cannot be used at ${this.path}: ${this.detail}`
  }
}

/**
 * Takes the place of the controller until the scope ends: its folder is there and belongs to this user, nothing listens
 * at its socket, where nothing is, and its process id is in its file.
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

/** One that does not say who it is, has at least written it down. */
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

/** Whose choice the folder for socket and process id is: the program's own, or one that the user has named. */
export type RunFolder = "own" | "named"

/**
 * Makes a folder that only this user may enter, or makes sure that what is there is one. One that is the program's
 * own is closed to others; what the user has named stays as it is, and is refused where others may enter it.
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
    const detail = "it is a file or a link, where a folder is to be. Move it away."
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
    const detail = `other users may enter it (its mode is ${mode}). Give it the mode 700, or name a folder that is not there yet.`
    return yield* new IpcSocketUnusable({ path, detail })
  }
})

/** Why a folder could not be made: a service is often not allowed to write beside its configuration. */
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

/** The holder of the lock may remove what a killed process has left, and nothing else. */
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
    const detail = "something else lies there, which is no socket. Move it away."
    return yield* new IpcSocketUnusable({ path, detail })
  }
  // Where the lock was taken away from its holder, removed by hand for example, the holder still listens.
  yield* Effect.flatMap(IpcClientSocket.make(path), (client) => client.process).pipe(
    Effect.matchEffect({
      onSuccess: ({ pid }) => new ControllerAlreadyRunning({ path, owner: `process ${pid}` }),
      onFailure: (error) =>
        error._tag === "vitrine/ControllerNotRunning" ? Effect.void : refuseMute(paths, path, error.message)
    })
  )
  yield* attempt(path, () => rm(path, { force: true }))
})
