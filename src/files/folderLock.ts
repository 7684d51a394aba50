/**
 * Gives a folder to one controller at a time.
 *
 * The lock is a socket at which its holder listens. The operating system closes the socket with the process, however
 * the process ends, so that no lock outlives a crash or a loss of power. On Windows, the socket is a named pipe: it
 * leaves nothing behind, and two processes cannot have the same pipe.
 *
 * On other systems, a crash leaves a file at which nothing listens. Another process must remove this file, but never a
 * socket that a third process has just put there. Therefore each socket has its own name in the folder `.lock`, and
 * arrives together with that folder: a prepared folder with a listening socket is renamed to `.lock`. The system lets
 * the rename replace only an empty folder or none, so that exactly one of many concurrent processes succeeds. All
 * others ask the sockets in `.lock`: a socket that answers has the lock; dead sockets are removed, and the rename is
 * tried again.
 *
 * `socketPath.ts` has the paths of its sockets.
 */

import { randomBytes } from "node:crypto"
import { constants } from "node:fs"
import { chmod, lstat, mkdir, open, readdir, rename, rm, rmdir, stat } from "node:fs/promises"
import * as Net from "node:net"
import { userInfo } from "node:os"
import { dirname, join, posix } from "node:path"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { ErrorChain } from "../internal/SerializedError.ts"
import { optional } from "../internal/schemas.ts"
import { errorCode } from "../internal/serializeError.ts"
import { toError } from "./fileBatch.ts"
import { fits, hashOf, pipePath, socketFile } from "./socketPath.ts"
import { explain, retryHeldOpen } from "./systemError.ts"

/** Another process has the lock of the folder. */
export class FolderLocked extends Schema.TaggedError<FolderLocked>()("vitrine/FolderLocked", {
  path: Schema.String,
  /** The socket or the named pipe of that process. */
  socket: Schema.String,
  /** The process id in its answer; absent if it does not answer. It is no proof. */
  pid: optional(Schema.Number)
}) {
  /** The holder of the lock for messages: `process 4711`, or that it does not answer. */
  get owner() {
    return this.pid === undefined ? `it does not answer at ${this.socket}` : `process ${this.pid}`
  }

  override get message() {
    return `The folder ${this.path} is locked by another controller (${this.owner}).`
  }
}

/** The folder could not be locked. */
export class FolderLockFailed extends Schema.TaggedError<FolderLockFailed>()("vitrine/FolderLockFailed", {
  path: Schema.String,
  /** The error of the system, without the name of the socket, which differs each time. */
  detail: Schema.String,
  cause: ErrorChain
}) {
  override get message() {
    return `The folder ${this.path} cannot be locked: ${this.detail}`
  }
}

/**
 * Locks a folder, given by its real absolute path, until the scope ends. `scratch` is a folder on the same disk. The
 * returned Effect tells whether the lock still exists, or has gone because the folder was removed.
 *
 * If the folder can have no socket (a full or read-only disk, or a file system without sockets, such as exFAT and many
 * network shares), the socket is made in `~/.local/state/vitrine` of the user of the process, whatever the environment
 * says. There, it protects only against controllers of the same user. If two processes start just when the disk can
 * have sockets again, neither gets the lock.
 *
 * Every user may connect: a user who may not would take a dead socket for a live one. There is little to protect: a
 * client gets a process id, cannot send anything, and is disconnected at once. The answer of another process proves
 * only that a process is there.
 */
export const lockFolder = (directory: string, scratch: string) =>
  Effect.mapError(
    orNothing(process.platform === "win32" ? lockPipe(directory) : lockSocket(directory, scratch)),
    (error) =>
      error instanceof FolderLocked
        ? error
        : new FolderLockFailed({ path: directory, detail: explain(error), cause: error })
  )

/** The holder of the lock of a folder. */
export interface LockHolder {
  /** The process id in its answer. */
  readonly pid: Option.Option<number>
  /** Whether it still has the lock. */
  readonly isHeld: Effect.Effect<boolean>
}

/** The holder of the lock of a folder, given by its real absolute path. */
export const lockHolder = Effect.fnUntraced(function* (directory: string) {
  const sockets =
    process.platform === "win32"
      ? [pipePath(directory)]
      : (yield* Effect.forEach(placesOf(directory), socketsIn)).flat()
  const holders = yield* Effect.forEach(sockets, (socket) =>
    Effect.map(
      ask(socket),
      Option.map(
        ({ pid }): LockHolder => ({
          pid: Option.fromNullable(pid),
          // All holders use the same name for the pipe, so the process id must be compared too.
          isHeld: Effect.map(
            ask(socket),
            Option.exists((now) => (now.pid ?? pid) === (pid ?? now.pid))
          )
        })
      )
    )
  )
  return Array.head(Array.getSomes(holders))
})

/** Releases everything acquired at once if the effect fails. */
const orNothing = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
    return yield* effect.pipe(
      Scope.extend(scope),
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
    )
  })

const lockPipe = (directory: string) => {
  const pipe = pipePath(directory)
  return listen(pipe).pipe(
    Effect.as(Effect.succeed(true)),
    Effect.catchIf(
      (error) => errorCode(error) === "EADDRINUSE",
      () =>
        Effect.flatMap(ask(pipe), (answer) =>
          locked(
            directory,
            pipe,
            Option.getOrElse(answer, () => ({}))
          )
        )
    )
  )
}

/** Gives an effect that tells whether the socket still exists. */
const lockSocket = Effect.fnUntraced(function* (directory: string, scratch: string) {
  const inFolder = takePlace(placeIn(directory), scratch, directory)
  const socket = yield* Option.match(sparePlace(directory), {
    onNone: () => inFolder,
    onSome: (spare) =>
      Effect.catchIf(inFolder, isNotLocked, (error) =>
        attempt(() => mkdir(dirname(spare), { recursive: true, mode: 0o700 })).pipe(
          Effect.zipRight(takePlace(spare, dirname(spare), directory)),
          Effect.mapError((other) => (isNotLocked(other) ? error : other))
        )
      )
  })
  const others = placesOf(directory).filter((place) => place !== dirname(socket))
  yield* Effect.forEach(others, (place) =>
    Effect.catchIf(removeDead(place, directory), isNotLocked, () => Effect.void)
  )
  return Effect.isSuccess(attempt(() => lstat(socket)))
})

const isNotLocked = (error: Error) => !(error instanceof FolderLocked)

/**
 * The places for the sockets of a folder. Each place is a folder with the socket of at most one live process, and
 * perhaps dead sockets.
 */
const placeOf = (folder: string, name: string) =>
  dirname(socketFile(folder, `${name}/lock-${"0".repeat(12)}`))

const placeIn = (directory: string) => placeOf(directory, ".lock")

/** `None` if the system knows no home of the user, as for many users of containers. */
const sparePlace = (directory: string): Option.Option<string> =>
  Option.map(homeFolder(), (home) =>
    placeOf(join(home, ".local", "state", "vitrine"), `${hashOf(directory)}.lock`)
  )

const homeFolder = Option.liftThrowable(() => userInfo().homedir)

const placesOf = (directory: string): ReadonlyArray<string> => [
  placeIn(directory),
  ...Option.toArray(sparePlace(directory))
]

/**
 * Puts a socket into a place and gives its file. Fails if another process is there. The socket is bound in `scratch`
 * itself, because the kernel keeps the name of the first path.
 */
const takePlace = (place: string, scratch: string, directory: string) =>
  Effect.gen(function* () {
    const name = `lock-${randomBytes(6).toString("hex")}`
    const bound = socketFile(scratch, name)
    const prepared = `${bound}.folder`
    const socket = join(place, name)
    yield* Effect.flatMap(socketAddress(bound), listen)
    yield* Effect.addFinalizer(() =>
      Effect.ignore(attempt(() => removeAll([bound, prepared, socket], place)))
    )
    yield* attempt(async () => {
      await mkdir(prepared)
      // Users who may remove files in the folder may also remove the remains of a crash in the place.
      await chmod(prepared, (await stat(dirname(place))).mode & 0o1777)
      await rename(bound, join(prepared, name))
    })
    const enter: Effect.Effect<void, Error> = Effect.catchIf(
      retryHeldOpen(attempt(() => rename(prepared, place))),
      (error) => ["EEXIST", "ENOTEMPTY"].includes(errorCode(error) ?? ""),
      () => Effect.zipRight(removeDead(place, directory), enter)
    )
    yield* enter
    return socket
  }).pipe(orNothing)

const removeAll = async (own: ReadonlyArray<string>, place: string) => {
  await Promise.all(own.map((path) => rm(path, { recursive: true, force: true })))
  await rmdir(place)
}

/** Removes the dead sockets in a place. Fails if a process answers at one of them. */
const removeDead = Effect.fnUntraced(function* (place: string, directory: string) {
  for (const socket of yield* socketsIn(place)) {
    const answer = yield* ask(socket)
    if (Option.isSome(answer)) {
      return yield* locked(directory, socket, answer.value)
    }
    yield* retryHeldOpen(attempt(() => rm(socket, { force: true })))
  }
})

const socketsIn = (place: string) =>
  attempt(() => readdir(place)).pipe(
    Effect.map((names) => names.map((name) => join(place, name))),
    Effect.catchIf(
      (error) => errorCode(error) === "ENOENT",
      () => Effect.succeed([])
    )
  )

const attempt = <A>(action: () => Promise<A>) => Effect.tryPromise({ try: action, catch: toError })

/** Listens until the scope ends. */
const listen = (address: string) =>
  Effect.acquireRelease(
    Effect.async<Net.Server, Error>((resume) => {
      const server = Net.createServer((socket) => {
        const disconnect = () => socket.destroy()
        // A connection that stays open, or has unread data, would use up a file handle for ever.
        socket.on("error", disconnect).end(`held by process ${process.pid}`, disconnect)
      })
      server.on("error", (error) => resume(Effect.fail(error)))
      try {
        server.listen({ path: address, readableAll: true, writableAll: true }, () =>
          resume(Effect.succeed(server))
        )
      } catch (error) {
        // This happens if the holder of the lock cleans its staging folder before the socket has its mode.
        resume(Effect.fail(toError(error)))
      }
      server.unref()
    }),
    (server) => Effect.sync(() => server.close())
  )

const locked = (path: string, socket: string, answer: OwnerAnswer) =>
  new FolderLocked({ path, socket, ...answer })

interface OwnerAnswer {
  /** The process behind a socket, if it answered as a controller does. */
  readonly pid?: number
}

/** How long a process may take to tell its id, in milliseconds. */
const answerMs = 1000

/** Asks for the process behind a socket; `None` if nothing listens. */
const ask = (file: string) =>
  socketAddress(file).pipe(
    Effect.flatMap(askAt),
    Effect.asSome,
    Effect.catchAll((error) =>
      Effect.succeed(
        ["ECONNREFUSED", "ENOENT"].includes(errorCode(error) ?? "")
          ? Option.none()
          : Option.some<OwnerAnswer>({})
      )
    ),
    Effect.scoped
  )

const askAt = (address: string) =>
  Effect.async<OwnerAnswer, Error>((resume) => {
    const answer = (text = "") => {
      const pid = /^held by process (\d+)$/.exec(text)?.[1]
      socket.destroy()
      resume(Effect.succeed(pid === undefined ? {} : { pid: Number(pid) }))
    }
    const socket = Net.connect(address)
      .setEncoding("utf8")
      .setTimeout(answerMs, () => answer())
      .on("data", (text: string) => answer(text))
      .on("end", () => answer())
      .on("error", (error) => resume(Effect.fail(error)))
    return Effect.sync(() => socket.destroy())
  })

/**
 * The address to listen or connect at for a socket file. On Linux, a path that is too long is replaced by one through a
 * handle of its folder, `/proc/self/fd/<handle>/<name>`. The handle is open until the scope ends.
 */
export const socketAddress = (file: string): Effect.Effect<string, Error, Scope.Scope> =>
  process.platform !== "linux" || fits(file)
    ? Effect.succeed(file)
    : Effect.acquireRelease(
        attempt(() => open(posix.dirname(file), constants.O_RDONLY | constants.O_DIRECTORY)),
        (handle) => Effect.promise(() => handle.close().catch(() => {}))
      ).pipe(Effect.map(({ fd }) => `/proc/self/fd/${fd}/${posix.basename(file)}`))
