/**
 * One controller to a downloads folder.
 *
 * The lock is a listening socket (a named pipe on Windows). The system closes it with the process, however that
 * ends, so that no lock outlives a crash or a loss of power.
 */
import { createHash, randomBytes } from "node:crypto"
import { readdir, rename, rm } from "node:fs/promises"
import * as Net from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as ExecutionStrategy from "effect/ExecutionStrategy"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import { DownloadsInUse, VersionStoreError } from "../../services/VersionStore.ts"

/**
 * Takes the lock of a folder, given by its real absolute path, until the scope ends. `scratch` is a folder on
 * the same disk.
 *
 * Whoever wants the lock puts up a socket under a name that nobody else ever has, and only then looks who else
 * is there: the second of two that come at the same moment sees the first, and a dead socket can be removed at
 * any time. The sockets lie in the folder, for all that see the folder, and in the folder for temporary files:
 * the downloads may have no room for sockets, no sockets at all, or be removed and made anew.
 *
 * Every user may connect to them. To one who may not, a dead socket looks like a live one, so that what a crash
 * leaves would keep the controllers of all other users from a folder that they share. There is little to guard:
 * who connects is told the id of a process, is not listened to, and is disconnected at once. What others say there
 * is trusted no further than that somebody is there.
 */
export const lockFolder = (directory: string, scratch: string) =>
  (process.platform === "win32" ? lockPipe(directory) : lockSockets(directory, scratch)).pipe(
    orNothing,
    Effect.mapError((error) =>
      error instanceof DownloadsInUse
        ? error
        : new VersionStoreError({ action: "lock", path: directory, detail: error.message, cause: error })
    )
  )

/** The process that has the lock of a folder, given by its real absolute path: where one has it and says who it is. */
export const lockHolder = Effect.fnUntraced(function* (directory: string) {
  const addresses =
    process.platform === "win32"
      ? [pipeOf(directory)]
      : (yield* Effect.forEach(placesOf(directory), socketsIn)).flat()
  const answers = yield* Effect.forEach(addresses, ask)
  return Array.findFirst(answers, ({ pid, state }) =>
    Option.fromNullable(state === "holds" ? pid : undefined)
  )
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
  return Effect.catchIf(
    Effect.acquireRelease(listen(pipe, { holds: true }), close),
    ({ code }) => code === "EADDRINUSE",
    () => Effect.flatMap(ask(pipe), (answer) => inUse(directory, pipe, answer))
  )
}

const lockSockets = Effect.fnUntraced(function* (directory: string, scratch: string) {
  const places = placesOf(directory)
  const token = randomBytes(6).toString("hex")
  const state = { holds: false }
  const [failures, sockets] = yield* Effect.partition(places, (place) =>
    putUp(place, place.scratch ?? scratch, token, state)
  )
  if (sockets.length === 0) {
    return yield* Effect.fail(failures[0] ?? new Error("no place for a socket"))
  }
  for (const place of places) {
    for (const socket of yield* socketsIn(place)) {
      if (!socket.endsWith(token)) {
        const givesWay = socket.slice(-token.length) > token
        yield* outlast(socket, givesWay, directory)
      }
    }
  }
  state.holds = true
})

/** Where sockets lie that have to do with one folder. */
interface Place {
  readonly folder: string
  /** What their names begin with. */
  readonly prefix: string
  /**
   * Where they are made, if not in the scratch folder: until it listens, a socket cannot be told from a dead one.
   */
  readonly scratch?: string
}

const placesOf = (directory: string): ReadonlyArray<Place> => [
  { folder: directory, prefix: ".lock" },
  { folder: tmpdir(), prefix: `${nameOf(directory)}.lock`, scratch: tmpdir() }
]

interface State {
  /** Whether the lock was taken, or is still fought for. */
  holds: boolean
}

const nameOf = (directory: string) =>
  `vitrine-${createHash("sha256").update(directory).digest("hex").slice(0, 16)}`

const pipeOf = (directory: string) => `\\\\.\\pipe\\${nameOf(directory)}`

const socketsIn = ({ folder, prefix }: Place) =>
  Effect.promise(() => readdir(folder).catch((): ReadonlyArray<string> => [])).pipe(
    Effect.map((names) => names.filter((name) => name.startsWith(prefix)).map((name) => join(folder, name)))
  )

/** The path of a socket cannot be longer than this everywhere, in bytes. */
const maxSocketPath = 100

const putUp = ({ folder, prefix }: Place, scratch: string, token: string, state: State) => {
  const socket = join(folder, `${prefix}-${token}`)
  const unready = join(scratch, `lock-${token}`)
  return Effect.acquireRelease(
    Math.max(Buffer.byteLength(socket), Buffer.byteLength(unready)) > maxSocketPath
      ? Effect.fail(new Error("the path is too long for a socket"))
      : Effect.tap(listen(unready, state), (server) =>
          Effect.tapError(Effect.tryPromise({ try: () => rename(unready, socket), catch: asError }), () =>
            close(server)
          )
        ),
    (server) => Effect.zipRight(remove(socket), close(server))
  )
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
const outlast = Effect.fnUntraced(function* (address: string, givesWay: boolean, directory: string) {
  for (let asked = 1; ; asked++) {
    const answer = yield* ask(address)
    if (answer.state === "gone") {
      return yield* remove(address)
    }
    if (answer.state === "holds" || !givesWay || asked === maxAsked) {
      return yield* inUse(directory, address, answer)
    }
    yield* Effect.promise(() => setTimeout(pauseMs))
  }
})

const inUse = (path: string, address: string, { pid }: Answer) =>
  new DownloadsInUse({
    path,
    owner: pid === undefined ? `it does not answer at ${address}` : `process ${pid}`
  })

interface Answer {
  readonly state: "gone" | "fights" | "holds"
  /** The process behind it, where it told. */
  readonly pid?: number
}

/** How long a process may take to say who it is, in milliseconds. */
const answerMs = 1000

/** Asks who is behind a socket. One that does not answer, or not as a controller does, is taken to have the lock. */
const ask = (address: string) =>
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
        answer(pid === undefined || held !== undefined ? "holds" : "fights", pid)
      })
      .on("error", ({ code }: NodeJS.ErrnoException) => {
        switch (code) {
          case "ECONNREFUSED":
          case "ENOENT":
            return answer("gone")
          case "ECONNRESET":
          case "EPIPE":
            return answer("fights")
          default:
            return answer("holds")
        }
      })
    return Effect.sync(() => socket.destroy())
  })
