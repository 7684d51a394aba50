/**
 * One controller to a folder.
 *
 * The lock is a socket at which its holder listens. The system closes it with the process, however that ends, so that no
 * lock outlives a crash or a loss of power. On Windows it is a named pipe, of which nothing is left then and which two cannot
 * have. Elsewhere a file is left at which nothing listens, and which another process has to remove without ever removing the socket
 * that another one has put there. So each socket has its own name, in the folder `.lock`, and comes there
 * with that folder: a folder that has it, listening already, is renamed to `.lock`. The system lets that replace nothing or
 * an empty folder, and no other one, so that one of many that come at the same moment gets through. Everybody else asks the
 * sockets in `.lock`: one that answers has the lock; dead ones can be removed at any time, and then it is tried again.
 */
import { randomBytes } from "node:crypto"
import { chmod, lstat, mkdir, readdir, rename, rm, rmdir, stat } from "node:fs/promises"
import * as Net from "node:net"
import { userInfo } from "node:os"
import { dirname, join } from "node:path"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { retryHeldOpen } from "../../files/heldOpen.ts"
import { explain } from "../../files/systemError.ts"
import { ErrorChain } from "../../internal/SerializedError.ts"
import { optional } from "../../internal/schemas.ts"
import { errorCode } from "../../internal/serializeError.ts"
import { hashOf, pipePath, socketAddress, socketFile } from "./socketFile.ts"

/** Another process has the lock of the folder. */
export class FolderLocked extends Schema.TaggedError<FolderLocked>()("vitrine/FolderLocked", {
  path: Schema.String,
  /** The socket, or the named pipe, of the one that has it. */
  socket: Schema.String,
  /** The process that it says it is; absent where it does not answer. Nothing proves it. */
  pid: optional(Schema.Number)
}) {
  /** Who has it, for messages: `process 4711`, or that it does not answer. */
  get owner() {
    return this.pid === undefined ? `it does not answer at ${this.socket}` : `process ${this.pid}`
  }

  override get message() {
    return `The folder ${this.path} is locked by another controller (${this.owner}).`
  }
}

/** The lock of the folder could be had in no way. */
export class FolderLockFailed extends Schema.TaggedError<FolderLockFailed>()("vitrine/FolderLockFailed", {
  path: Schema.String,
  /** What the system said, without the name of the socket: that is another one each time. */
  detail: Schema.String,
  cause: ErrorChain
}) {
  override get message() {
    return `The folder ${this.path} cannot be locked: ${this.detail}`
  }
}

/**
 * Takes the lock of a folder, given by its real absolute path, until the scope ends. `scratch` is a folder on
 * the same disk. The Effect that it gives says whether the lock is still there, or has gone with the folder, which was
 * removed.
 *
 * Where no socket can be made in the folder (a disk that is full or read-only, a file system that has none, as
 * exFAT and many network shares), it is made in `~/.local/state/vitrine` of the user that the process runs as,
 * whatever the environment says. There it protects against controllers of the same user alone. Of two that come at the
 * moment at which the disk takes sockets again, neither gets the lock.
 *
 * Every user may connect: to one who may not, a dead socket would look like a live one. There is little to guard:
 * a client gets the id of a process, cannot send anything, and is disconnected at once. What others say there
 * is trusted no further than that somebody is there.
 */
export const lockFolder = (directory: string, scratch: string) =>
  Effect.mapError(
    orNothing(process.platform === "win32" ? lockPipe(directory) : lockSocket(directory, scratch)),
    (error) =>
      error instanceof FolderLocked
        ? error
        : new FolderLockFailed({ path: directory, detail: explain(error), cause: error })
  )

/** Somebody who has the lock of a folder. */
export interface LockHolder {
  /** The process that it says it is. */
  readonly pid: Option.Option<number>
  /** Whether it still has the lock. */
  readonly holds: Effect.Effect<boolean>
}

/** Who has the lock of a folder, given by its real absolute path. */
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
          // A pipe has the same name for all holders.
          holds: Effect.map(
            ask(socket),
            Option.exists((now) => (now.pid ?? pid) === (pid ?? now.pid))
          )
        })
      )
    )
  )
  return Array.head(Array.getSomes(holders))
})

/** What was acquired is released at once where the whole fails. */
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

/** Gives whether its socket is still there. */
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

/** Where the sockets of a folder lie. Each place is a folder with the socket of one process, and with dead ones at most. */
const placeOf = (folder: string, name: string) =>
  dirname(socketFile(folder, `${name}/lock-${"0".repeat(12)}`))

const placeIn = (directory: string) => placeOf(directory, ".lock")

/** None where the system knows no home of the user, as of many that a container is run as. */
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
 * Puts a socket into a place and gives its file; fails where somebody is there. It is bound in `scratch` itself, by which name
 * the kernel knows it for good.
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
      // Those who may remove what is in the folder may remove what a crash leaves in here.
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

/** Removes the dead sockets in a place; fails where somebody answers at one. */
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

const attempt = <A>(action: () => Promise<A>) => Effect.tryPromise({ try: action, catch: asError })

const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)))

/** Until the scope ends. */
const listen = (address: string) =>
  Effect.acquireRelease(
    Effect.async<Net.Server, Error>((resume) => {
      const server = Net.createServer((socket) => {
        const disconnect = () => socket.destroy()
        // Left open, or with something unread in it, it would take up a file handle for good.
        socket.on("error", disconnect).end(`held by process ${process.pid}`, disconnect)
      })
      server.on("error", (error) => resume(Effect.fail(error)))
      try {
        server.listen({ path: address, readableAll: true, writableAll: true }, () =>
          resume(Effect.succeed(server))
        )
      } catch (error) {
        // Thrown where one that has the lock cleans its staging folder before the socket has its mode.
        resume(Effect.fail(asError(error)))
      }
      server.unref()
    }),
    (server) => Effect.sync(() => server.close())
  )

const locked = (path: string, socket: string, answer: OwnerAnswer) =>
  new FolderLocked({ path, socket, ...answer })

interface OwnerAnswer {
  /** The process behind a socket, where it said so as a controller does. */
  readonly pid?: number
}

/** How long a process may take to say who it is, in milliseconds. */
const answerMs = 1000

/** Asks who is behind a socket; `None` if nothing listens. */
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
    const answer = (said = "") => {
      const pid = /^held by process (\d+)$/.exec(said)?.[1]
      socket.destroy()
      resume(Effect.succeed(pid === undefined ? {} : { pid: Number(pid) }))
    }
    const socket = Net.connect(address)
      .setEncoding("utf8")
      .setTimeout(answerMs, () => answer())
      .on("data", (said: string) => answer(said))
      .on("end", () => answer())
      .on("error", (error) => resume(Effect.fail(error)))
    return Effect.sync(() => socket.destroy())
  })
