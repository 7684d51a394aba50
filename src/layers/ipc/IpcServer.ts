/**
 * The IPC transport: a controller's socket, for programs of the user it belongs to (decisions, part D).
 *
 * It is a Unix socket beside the configuration (`socketPath.ts`), or a named pipe on Windows. Only its user can
 * reach it, so that everything is allowed over it. Both sides send JSON-RPC 2.0, each message as a line of UTF-8
 * that a line feed ends. The last request may lack its line feed where the peer ends the sending side, as who pipes
 * one by hand does; an answer that lacks it was cut off.
 *
 * | Method        | Params                     | Result                                                    |
 * | ------------- | -------------------------- | --------------------------------------------------------- |
 * | `process`     |                            | `{ pid }`, the controller's process                       |
 * | `status`      |                            | the status snapshot, as of `GET /status`                  |
 * | `state`       |                            | the global state, as of `GET /state`                      |
 * | `dispatch`    | `{ command: { type, … } }` | what the command returned, `null` where that is nothing   |
 * | `subscribe`   |                            | `null`; from now on every event comes as a notification   |
 * | `unsubscribe` |                            | `null`; no more events come                               |
 * | `stop`        |                            | `null`; then the controller ends as on SIGTERM            |
 *
 * An event is `{"jsonrpc":"2.0","method":"event","params":{"name":…,"payload":…}}`. Nothing is replayed.
 *
 * | Error  | When                                                                                            |
 * | ------ | ----------------------------------------------------------------------------------------------- |
 * | -32700 | the line is not JSON                                                                            |
 * | -32600 | it is no request, a batch, or longer than 65,536 bytes                                          |
 * | -32601 | there is no such method                                                                         |
 * | -32602 | `dispatch` was given no command                                                                 |
 * | -32603 | something failed that must not                                                                  |
 * | -32000 | the command failed or was refused; `data` is `{ name, message, cause? }`, which recurses        |
 * | -32001 | all connections are in use; this one is closed                                                  |
 *
 * Requests of a connection are carried out side by side, 16 at most, and answered as they are done; the next is
 * read when one of them is answered. An answer may overtake an event. Blank lines are ignored, notifications
 * carried out without an answer, and whoever ends the sending side is answered before the connection is closed. A
 * peer that leaves answers unread for 10 seconds, or events of more than a mebibyte, is disconnected, and so is one
 * that has asked for nothing for 30 seconds and has not subscribed.
 *
 * `@effect/rpc` (read in 0.76) has JSON-RPC over lines, too, but not these limits: it bounds requests for the whole server
 * and queues the others without bound, its socket reads on while requests run and does not wait for `drain`, and nothing
 * ends an idle connection. A line that is no JSON, or too long, ends the connection where the protocol has an error for
 * it, events would be chunks of a response and not notifications, and every user would install it.
 */
import { chmod } from "node:fs/promises"
import * as Net from "node:net"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import { socketAddress } from "../../internal/socketFile.ts"
import type { CommandBus } from "../../services/CommandBus.ts"
import type { ControllerState } from "../../services/ControllerState.ts"
import type { EventBus } from "../../services/EventBus.ts"
import {
  type ControllerAlreadyRunning,
  claimFolder,
  type IpcSocketUnusable,
  unusable
} from "./claimFolder.ts"
import { serveConnection } from "./connection.ts"
import * as EventFeed from "./EventFeed.ts"
import * as JsonRpc from "./JsonRpc.ts"
import * as methods from "./methods.ts"
import { type ControllerPaths, locateController } from "./socketPath.ts"

/** How many connections are served at once. */
export const maxConnections = 32

/** Of how many more, at once, each is told that it is one too many. */
const maxRefusals = 128

/** How long one that was refused may take to notice, in milliseconds. */
const lingerMs = 1000

/** How long requests may go on when the server ends. */
const grace = "100 millis"

export interface IpcServerOptions {
  /** The folder of the configuration. */
  readonly folder: string
  /**
   * The folder for the socket and the process id, made if it is missing; only this user may enter it. Default:
   * `.vitrine` in `folder`.
   */
  readonly runFolder?: string | undefined
  /** Begins the end of the controller. It is run once at most. */
  readonly stop: Effect.Effect<void>
}

/**
 * Serves the controller whose configuration lies in the folder until the scope ends, and claims the folder for
 * it. Nobody can delay the end.
 */
export const make: (
  options: IpcServerOptions
) => Effect.Effect<
  ControllerPaths,
  ControllerAlreadyRunning | IpcSocketUnusable,
  CommandBus | EventBus | ControllerState | Scope.Scope
> = Effect.fnUntraced(function* ({ folder, runFolder, stop }: IpcServerOptions) {
  const paths = yield* locateController(folder, runFolder)
  yield* claimFolder(paths, runFolder === undefined ? "own" : "named")
  const feed = yield* EventFeed.make
  const context = { closing: yield* Deferred.make<void>(), feed, methods: yield* methods.make(feed, stop) }
  const connections = yield* FiberSet.make<void>()
  const run = yield* FiberSet.runtime(connections)()
  let open = 0

  const server = Net.createServer({ allowHalfOpen: true }, (socket) => {
    if (open === maxConnections) {
      refuse(socket)
    } else {
      open += 1
      run(serveConnection(socket, context)).addObserver(() => {
        open -= 1
      })
    }
  })
  server.maxConnections = maxConnections + maxRefusals

  yield* Effect.acquireRelease(listen(server, paths.socket), () =>
    Effect.sync(() => server.close()).pipe(
      Effect.zipRight(Deferred.succeed(context.closing, undefined)),
      Effect.zipRight(FiberSet.awaitEmpty(connections)),
      Effect.interruptible,
      Effect.timeoutOption(grace)
    )
  )
  yield* Effect.logDebug(`The controller listens at ${paths.socket}`)
  return paths
})

/** As `make`, for as long as the layer is in use. */
export const layer = (
  options: IpcServerOptions
): Layer.Layer<
  never,
  ControllerAlreadyRunning | IpcSocketUnusable,
  CommandBus | EventBus | ControllerState
> => Layer.scopedDiscard(make(options))

const listen = (server: Net.Server, path: string) =>
  addressOf(path).pipe(
    Effect.flatMap((address) =>
      Effect.async<void, IpcSocketUnusable>((resume) => {
        server.once("error", (cause) => resume(unusable(path)(cause)))
        server.listen(address, () => {
          server.removeAllListeners("error")
          resume(Effect.void)
        })
      })
    ),
    Effect.zipRight(logErrors(server)),
    Effect.zipRight(process.platform === "win32" ? Effect.void : makePrivate(path)),
    Effect.tapError(() => Effect.sync(() => server.close()))
  )

const addressOf = (path: string) => Effect.mapError(socketAddress(path), unusable(path))

const makePrivate = (path: string) =>
  Effect.tryPromise({ try: () => chmod(path, 0o600), catch: unusable(path) })

/** Without a listener, a connection that could not be accepted would end the process. */
const logErrors = (server: Net.Server) =>
  Effect.map(Effect.runtime(), (runtime) => {
    const log = Runtime.runFork(runtime)
    server.on("error", ({ message }) => log(Effect.logWarning(`A connection was not accepted: ${message}`)))
  })

/** Says why, and waits a moment: where something was not read, the peer might not be told what was said. */
const refuse = (socket: Net.Socket) => {
  const timer = setTimeout(() => socket.destroy(), lingerMs)
  socket
    .on("error", () => {})
    .on("close", () => clearTimeout(timer))
    .resume()
    .end(JsonRpc.error(null, tooManyConnections))
}

const tooManyConnections = new JsonRpc.RpcError({
  code: JsonRpc.errorCode.tooManyConnections,
  message: `All ${maxConnections} connections to the controller are in use. Close one first.`
})
