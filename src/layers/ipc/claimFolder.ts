/**
 * One controller to a configuration: the folder it keeps beside that, and the claim to it.
 */
import { chmod, lstat, mkdir, rm, rmdir } from "node:fs/promises"
import { dirname } from "node:path"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { messageOf } from "../../services/ErrorDescription.ts"
import { lockFolder } from "../content/folderLock.ts"
import * as IpcClientSocket from "./IpcClientSocket.ts"
import { keepPidFile, readPidFile } from "./pidFile.ts"
import type { ControllerPaths } from "./socketPath.ts"
import { isTrustedOwner } from "./trustedOwner.ts"

/** Another controller runs with the configuration. */
export class ControllerAlreadyRunning extends Schema.TaggedError<ControllerAlreadyRunning>()(
  "ControllerAlreadyRunning",
  {
    /** The folder that it holds. */
    path: Schema.String,
    /** The process, where it told. */
    owner: Schema.String
  }
) {
  override get message() {
    return `A controller is already running here (${this.owner}; it holds ${this.path}). Stop it first with "vitrine stop", or give this one a folder of its own.`
  }
}

/** There can be no socket where it is to be. */
export class IpcSocketUnusable extends Schema.TaggedError<IpcSocketUnusable>()("IpcSocketUnusable", {
  path: Schema.String,
  /** What is wrong and, where it is known, what to do. */
  detail: Schema.String,
  cause: Schema.optional(Schema.Defect)
}) {
  override get message() {
    return `The controller's socket cannot be used at ${this.path}: ${this.detail}`
  }
}

/**
 * Takes the place of the controller until the scope ends: its folders are there and nobody else's, nobody listens
 * at its socket, where nothing is, and its process id is in its file.
 */
export const claimFolder = Effect.fnUntraced(function* (paths: ControllerPaths) {
  yield* ownFolder(paths.folder)
  yield* lockFolder(paths.folder, paths.folder).pipe(
    Effect.catchTags({
      DownloadsInUse: ({ owner }) => refuse(paths, paths.folder, owner),
      VersionStoreError: (error) => unusable(paths.folder)(error)
    })
  )
  if (process.platform !== "win32") {
    if (dirname(paths.socket) !== paths.folder) {
      yield* temporaryFolder(dirname(paths.socket))
    }
    yield* removeDeadSocket(paths)
  }
  yield* keepPidFile(paths.pidFile)
})

/** One that does not say who it is, has at least written it down. */
const refuse = ({ pidFile }: ControllerPaths, path: string, owner: string) =>
  Effect.flatMap(
    owner.startsWith("process ") ? Effect.succeed(Option.none()) : readPidFile(pidFile),
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

/** Makes a folder that only this user may enter, or makes sure that what is there is one. */
const ownFolder = Effect.fnUntraced(function* (path: string) {
  yield* Effect.catchIf(
    attempt(path, () => mkdir(path, { mode: 0o700 })),
    ({ cause }) => isSystemError(cause) && cause.code === "EEXIST",
    () => Effect.void
  )
  const stats = yield* attempt(path, () => lstat(path))
  if (!stats.isDirectory()) {
    const detail = "it is a file or a link, where a folder is to be. Move it away."
    return yield* new IpcSocketUnusable({ path, detail })
  }
  if (process.platform !== "win32") {
    yield* belongsToUser(path, stats)
    yield* attempt(path, () => chmod(path, 0o700))
  }
})

const temporaryFolder = (path: string) =>
  Effect.acquireRelease(ownFolder(path), () => Effect.promise(() => rmdir(path).catch(() => {})))

const belongsToUser = (path: string, stats: { readonly uid: number }) =>
  isTrustedOwner(stats.uid)
    ? Effect.void
    : new IpcSocketUnusable({
        path,
        detail: `it belongs to another user (${stats.uid}). Remove it as that user.`
      })

const isSystemError = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && "code" in error

/** Whoever holds the lock may remove what a killed process has left, and nothing else. */
const removeDeadSocket = Effect.fnUntraced(function* (paths: ControllerPaths) {
  const path = paths.socket
  const stats = yield* attempt(path, () => lstat(path)).pipe(
    Effect.catchIf(
      ({ cause }) => isSystemError(cause) && cause.code === "ENOENT",
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
      onSuccess: ({ pid }) => refuse(paths, path, `process ${pid}`),
      onFailure: (error) =>
        error._tag === "ControllerNotRunning" ? Effect.void : refuse(paths, path, error.message)
    })
  )
  yield* attempt(path, () => rm(path, { force: true }))
})
