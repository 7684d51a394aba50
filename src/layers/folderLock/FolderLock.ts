/**
 * One controller to a folder.
 *
 * The lock is a listening socket (a named pipe on Windows). The system closes it with the process, however that
 * ends, so that no lock outlives a crash or a loss of power.
 */
import { randomBytes } from "node:crypto"
import { lstat, mkdir, readdir, rename, rm } from "node:fs/promises"
import * as Net from "node:net"
import { userInfo } from "node:os"
import { basename, dirname, join } from "node:path"
import { setTimeout } from "node:timers/promises"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { ErrorChain } from "../../internal/SerializedError.ts"
import { hashOf, socketAddress, socketFile } from "../../internal/socketFile.ts"
import { explain } from "../../internal/systemError.ts"

/** Another process has the lock of the folder. */
export class FolderLocked extends Schema.TaggedError<FolderLocked>()("vitrine/FolderLocked", {
  path: Schema.String,
  /** The socket, or the named pipe, of the one that has it. */
  socket: Schema.String,
  /** The process that it says it is; absent where it does not answer. Nothing proves it. */
  pid: Schema.optionalWith(Schema.Number, { exact: true })
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
 * the same disk. The Effect that it gives takes the lock anew where its socket is gone, because the folder was
 * removed and made anew, and does nothing otherwise.
 *
 * Whoever wants the lock puts up a socket under a name that nobody else ever has, and only then looks who else
 * is there: the second of two that come at the same moment sees the first, and a dead socket can be removed at
 * any time. The socket lies in the folder, for all that see the folder.
 *
 * Where no socket can be made in the folder (a disk that is full or read-only, a file system that has none, as
 * exFAT and many network shares), it is made in `~/.local/state/vitrine` of the user that the process runs as,
 * whatever the environment says. There it protects against controllers of the same user alone.
 *
 * Every user may connect. To one who may not, a dead socket looks like a live one, so that what a crash
 * leaves would keep the controllers of all other users from a folder that they share. There is little to guard:
 * who connects is told the id of a process, is not listened to, and is disconnected at once. What others say there
 * is trusted no further than that somebody is there.
 */
export const lockFolder = Effect.fnUntraced(function* (directory: string, scratch: string) {
  const scope = yield* Effect.scope
  const take = Effect.mapError(
    orNothing(process.platform === "win32" ? lockPipe(directory) : lockSockets(directory, scratch)),
    (error) =>
      error instanceof FolderLocked
        ? error
        : new FolderLockFailed({ path: directory, detail: explain(error), cause: error })
  ).pipe(Scope.extend(scope))
  let isThere = yield* take
  return Effect.gen(function* () {
    if (!(yield* isThere)) {
      isThere = yield* take
    }
  })
})

/** Somebody who has the lock of a folder. */
export interface LockHolder {
  /** The name that its socket was bound at. */
  readonly name: string
  /** The process that it says it is. */
  readonly pid: Option.Option<number>
  /** Whether it still has the lock. */
  readonly holds: Effect.Effect<boolean>
}

/** Who has the lock of a folder, given by its real absolute path. */
export const lockHolder = Effect.fnUntraced(function* (directory: string) {
  const sockets =
    process.platform === "win32"
      ? [pipeOf(directory)]
      : (yield* Effect.forEach(placesOf(directory), socketsIn)).flat()
  const holders = yield* Effect.forEach(sockets, (socket) =>
    Effect.map(
      ask(socket),
      ({ pid, state }): Option.Option<LockHolder> =>
        state === "holds"
          ? Option.some({
              name: unreadyName(socket.slice(-tokenLength)),
              pid: Option.fromNullable(pid),
              holds: Effect.map(
                ask(socket),
                // A pipe has the same name whoever has it.
                (now) => now.state === "holds" && (now.pid ?? pid) === (pid ?? now.pid)
              )
            })
          : Option.none()
    )
  )
  return Array.head(Array.getSomes(holders))
})

/** What was acquired is released at once where the whole fails: the others wait for it. */
const orNothing = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const scope = yield* Scope.fork(yield* Effect.scope, ExecutionStrategy.sequential)
    return yield* effect.pipe(
      Scope.extend(scope),
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause)))
    )
  })

/** A pipe has no name that could outlive it, and two cannot have the same. */
const lockPipe = (directory: string) => {
  const pipe = pipeOf(directory)
  return Effect.acquireRelease(listen(pipe, { holds: true }), close).pipe(
    Effect.as(Effect.succeed(true)),
    Effect.catchIf(
      ({ code }) => code === "EADDRINUSE",
      () => Effect.flatMap(ask(pipe), (answer) => inUse(directory, pipe, answer))
    )
  )
}

/** Gives whether its own socket is still there. */
const lockSockets = Effect.fnUntraced(function* (directory: string, scratch: string) {
  const token = randomBytes(6).toString("hex")
  const state = { holds: false }
  const own = yield* putUp(placeIn(directory), scratch, token, state).pipe(
    Effect.catchAll((error) =>
      Option.match(sparePlace(directory), {
        onNone: () => Effect.fail(error),
        onSome: (spare) =>
          attempt(() => mkdir(spare.folder, { recursive: true, mode: 0o700 })).pipe(
            Effect.zipRight(putUp(spare, spare.folder, token, state)),
            Effect.orElseFail(() => error)
          )
      })
    )
  )
  for (const socket of (yield* Effect.forEach(placesOf(directory), socketsIn)).flat()) {
    if (socket !== own) {
      const yields = socket.slice(-token.length) > token
      yield* waitForRelease(socket, yields, directory)
    }
  }
  state.holds = true
  return Effect.isSuccess(attempt(() => lstat(own)))
})

/** Where sockets lie that have to do with one folder. */
interface Place {
  readonly folder: string
  /** What their names begin with. */
  readonly prefix: string
}

const tokenLength = 12

const placeOf = (folder: string, prefix: string): Place => {
  const file = socketFile(folder, `${prefix}-${"0".repeat(tokenLength)}`)
  return { folder: dirname(file), prefix: basename(file).slice(0, -tokenLength - 1) }
}

const placeIn = (directory: string) => placeOf(directory, ".lock")

/** None where the system knows no home of the user, as of many that a container is run as. */
const sparePlace = (directory: string): Option.Option<Place> =>
  Option.map(homeFolder(), (home) =>
    placeOf(join(home, ".local", "state", "vitrine"), `${hashOf(directory)}.lock`)
  )

const homeFolder = Option.liftThrowable(() => userInfo().homedir)

const placesOf = (directory: string): ReadonlyArray<Place> => [
  placeIn(directory),
  ...Option.toArray(sparePlace(directory))
]

interface State {
  /** Whether the lock was taken, or is still fought for. */
  holds: boolean
}

const pipeOf = (directory: string) => `\\\\.\\pipe\\vitrine-${hashOf(directory)}`

const socketsIn = ({ folder, prefix }: Place) =>
  Effect.promise(() => readdir(folder).catch((): ReadonlyArray<string> => [])).pipe(
    Effect.map((names) => names.filter((name) => name.startsWith(prefix)).map((name) => join(folder, name)))
  )

const attempt = <A>(action: () => Promise<A>) => Effect.tryPromise({ try: action, catch: asError })

const unreadyName = (token: string) => `lock-${token}`

/** Puts up a socket and gives its file. It is made elsewhere: until it listens, it cannot be told from a dead one. */
const putUp = ({ folder, prefix }: Place, scratch: string, token: string, state: State) => {
  const socket = join(folder, `${prefix}-${token}`)
  const unready = socketFile(scratch, unreadyName(token))
  return Effect.flatMap(socketAddress(unready), (address) =>
    Effect.acquireRelease(
      Effect.tap(listen(address, state), (server) =>
        Effect.tapError(
          attempt(() => rename(unready, socket)),
          () => close(server)
        )
      ),
      (server) => Effect.zipRight(remove(socket), close(server))
    )
  ).pipe(Effect.as(socket))
}

const listen = (address: string, state: State) =>
  Effect.async<Net.Server, NodeJS.ErrnoException>((resume) => {
    const server = Net.createServer((socket) => {
      const disconnect = () => socket.destroy()
      // Left open, or with something in it that nobody reads, it would take up a file handle for good.
      socket.on("error", disconnect).end(`${state.holds ? holding : ""}process ${process.pid}`, disconnect)
    })
    server.on("error", (error) => resume(Effect.fail(error)))
    try {
      // Whichever user asks: one who may not would take a dead socket for a mute one.
      server.listen({ path: address, readableAll: true, writableAll: true }, () =>
        resume(Effect.succeed(server))
      )
    } catch (error) {
      // Thrown where one that has the lock cleans its staging folder before the socket has its mode.
      resume(Effect.fail(asError(error)))
    }
    server.unref()
  })

const close = (server: Net.Server) => Effect.sync(() => server.close())

/** One who cannot remove a dead socket passes it over. */
const remove = (socket: string) => Effect.promise(() => rm(socket, { force: true }).catch(() => {}))

const asError = (error: unknown) => (error instanceof Error ? error : new Error(String(error)))

/** What one that has the lock says first. */
const holding = "held by "

/** What a controller says, and a length that it never has. */
const said = new RegExp(`^(${holding})?process (\\d+)$`)
const tooLong = 64

/** How often one that is still fighting for the lock is asked how it went, and the pause between, in milliseconds. */
const maxAsked = 100
const pauseMs = 20

/** Waits until nobody is behind another's socket; fails where that one has the lock, or does not give way. */
const waitForRelease = Effect.fnUntraced(function* (address: string, yields: boolean, directory: string) {
  for (let asked = 1; ; asked++) {
    const answer = yield* ask(address)
    if (answer.state === "gone") {
      return yield* remove(address)
    }
    if (answer.state === "holds" || !yields || asked === maxAsked) {
      return yield* inUse(directory, address, answer)
    }
    yield* Effect.promise(() => setTimeout(pauseMs))
  }
})

const inUse = (path: string, address: string, { pid }: Answer) =>
  new FolderLocked({ path, socket: address, ...(pid === undefined ? {} : { pid }) })

interface Answer {
  readonly state: "gone" | "contends" | "holds"
  /** The process behind it, where it told. */
  readonly pid?: number
}

/** How long a process may take to say who it is, in milliseconds. */
const answerMs = 1000

/** Asks who is behind a socket. One that does not answer, or not as a controller does, is taken to have the lock. */
const ask = (file: string) =>
  socketAddress(file).pipe(
    Effect.flatMap(askAt),
    Effect.catchAll((error) => Effect.succeed<Answer>({ state: stateOf(error) })),
    Effect.scoped
  )

const askAt = (address: string) =>
  Effect.async<Answer>((resume) => {
    let text = ""
    const answer = (state: Answer["state"], pid?: string) => {
      socket.destroy()
      resume(Effect.succeed({ state, ...(pid === undefined ? {} : { pid: Number(pid) }) }))
    }
    const socket = Net.connect(address)
      .setEncoding("utf8")
      .setTimeout(answerMs, () => answer("holds"))
      .on("data", (data) => {
        text += data
        if (text.length >= tooLong) {
          answer("holds")
        }
      })
      .on("end", () => {
        const [, held, pid] = said.exec(text) ?? []
        answer(pid === undefined || held !== undefined ? "holds" : "contends", pid)
      })
      .on("error", (error) => answer(stateOf(error)))
    return Effect.sync(() => socket.destroy())
  })

const stateOf = (error: NodeJS.ErrnoException): Answer["state"] => {
  switch (error.code) {
    case "ECONNREFUSED":
    case "ENOENT":
      return "gone"
    case "ECONNRESET":
    case "EPIPE":
      return "contends"
    default:
      return "holds"
  }
}
