/**
 * The controller's own socket: the routes of the HTTP transport for programs of the same user (docs/wire.md, 10).
 *
 * The socket is a Unix socket beside the configuration (`runFolder.ts`), or a named pipe on Windows. Only its user can
 * reach it, so every command is allowed, and a request can stop the controller.
 */
import { chmod, lstat } from "node:fs/promises"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import * as Encoding from "effect/Encoding"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as ScopedRef from "effect/ScopedRef"
import { lockHolder, socketAddress } from "../../files/folderLock.ts"
import { printableLine } from "../../internal/printable.ts"
import { repeatAfter } from "../../internal/Schedules.ts"
import { errorCode, serializeError } from "../../internal/serializeError.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import { UnknownScreen } from "../../services/AskedScreen.ts"
import type { CommandBus } from "../../services/CommandBus.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import type { EventBus } from "../../services/EventBus.ts"
import { ReplayBacklog } from "../../services/ReplayBacklog.ts"
import { ScreenPictures } from "../../services/ScreenPictures.ts"
import * as Application from "../http/Application.ts"
import { json, result } from "../http/Application.ts"
import * as ConnectionLimit from "../http/ConnectionLimit.ts"
import * as EventStreamResponse from "../http/EventStreamResponse.ts"
import { listenAt } from "../http/Listen.ts"
import { readQuestion } from "../http/pictureBody.ts"
import * as RequestBody from "../http/RequestBody.ts"
import { unframeable } from "../httpTransport/EventEncoder.ts"
import * as EventStream from "../httpTransport/EventStream.ts"
import * as TransportRoutes from "../httpTransport/Routes.ts"
import { unrecorded } from "../httpTransport/statistics.ts"
import * as ReplayBacklogMemory from "../memory/ReplayBacklogMemory.ts"
import { screensToAsk } from "../screens/screenActions.ts"
import {
  type ControllerAlreadyRunning,
  claimFolder,
  type IpcSocketUnusable,
  unusable
} from "./claimFolder.ts"
import type { ControllerPaths } from "./controllerPaths.ts"
import { locateController } from "./runFolder.ts"

export type { ControllerAlreadyRunning, ControllerPaths, IpcSocketUnusable }

/** How many connections are served at the same time. @internal */
export const maxConnections = 32

/**
 * The place of the socket.
 *
 * @since 0.1.0
 * @category models
 */
export interface ClaimOptions {
  /** The folder of the configuration. */
  readonly folder: string
  /**
   * The folder for the socket and the process id, made if it is missing; only this user may enter it. Default:
   * `.vitrine` in `folder`.
   */
  readonly runFolder?: string | undefined
}

/**
 * The answers of the socket about the configuration, and the action that stops the controller.
 *
 * @since 0.1.0
 * @category models
 */
export interface ServeOptions {
  /** The SHA-256 of the running configuration, so that callers can detect a different one. Default none. */
  readonly configuration?: string | undefined
  /** Begins the shutdown of the controller. Runs once at most. */
  readonly stop: Effect.Effect<void>
  /** Notes who asked for the shutdown, as they call themselves. Default: nothing. */
  readonly noteStop?: (by: string) => Effect.Effect<void>
}

/**
 * The options of a server that also claims the folder.
 *
 * @since 0.1.0
 * @category models
 */
export interface IpcServerOptions extends ClaimOptions, ServeOptions {}

/**
 * Claims the folder for this controller until the scope ends. No other controller can then run with the configuration.
 *
 * @since 0.1.0
 * @category utils
 */
export const claim = Effect.fnUntraced(function* ({ folder, runFolder }: ClaimOptions) {
  const paths = yield* locateController(folder, runFolder)
  yield* claimFolder(paths, runFolder === undefined ? "own" : "named")
  return paths
})

/** Milliseconds between two looks whether the socket still exists. @internal */
export const lookMs = 10_000

/**
 * Serves the controller of the claimed folder until the scope ends. Running requests then have 1.5 seconds before they
 * are interrupted. No client can delay the shutdown.
 *
 * If somebody removes the socket, or the whole folder, it is made again within ten seconds, unless another controller has claimed
 * the folder.
 *
 * @since 0.1.0
 * @category utils
 */
export const serve = Effect.fnUntraced(function* (paths: ControllerPaths, options: ServeOptions) {
  // A ScopedRef acquires without interruption, and the fibers of the server would inherit that.
  const listening = Effect.interruptible(listen(paths, options))
  const served = yield* ScopedRef.fromAcquire(listening)
  if (process.platform === "win32") return
  const renewing = makeWarnWhile((message) => `No other command can reach the controller: ${message}`)
  const renew = Effect.gen(function* () {
    const holder = yield* Effect.map(
      lockHolder(paths.folder),
      Option.flatMap(({ pid }) => pid)
    )
    if (!Option.contains(holder, process.pid)) yield* claimFolder(paths, "own")
    yield* listening
    yield* Effect.logWarning(`Somebody has removed ${paths.socket}, and it was made again.`)
  })
  yield* Effect.tryPromise(() => lstat(paths.socket)).pipe(
    Effect.matchEffect({
      onSuccess: () => renewing.works,
      onFailure: ({ cause }) => (errorCode(cause) === "ENOENT" ? ScopedRef.set(served, renew) : Effect.void)
    }),
    Effect.catchAll(({ message }) => renewing.fails(message)),
    repeatAfter(lookMs),
    Effect.delay(lookMs),
    Effect.forkScoped
  )
})

/** Listens at the socket until the scope ends. */
const listen: (
  paths: ControllerPaths,
  options: ServeOptions
) => Effect.Effect<void, IpcSocketUnusable, CommandBus | EventBus | ControllerState | Scope.Scope> =
  Effect.fnUntraced(function* (paths, { configuration, noteStop = () => Effect.void, stop }) {
    const eventStream = yield* makeEventStream
    const routes = yield* TransportRoutes.make({
      options: { allowedCommands: "all", exposeState: true },
      events: HttpServerRequest.HttpServerRequest.pipe(
        Effect.flatMap((request) => EventStreamResponse.open(request, eventStream, {}))
      ),
      body: RequestBody.read
    })
    const { read } = yield* ControllerState
    const { ask, watched } = yield* ScreenPictures
    const takePicture = Effect.fnUntraced(function* (screen: string) {
      const { view } = yield* read
      const known = screensToAsk(view)
      // A screen that has never reported may have a watcher all the same.
      if (!known.includes(screen) && !(yield* watched).includes(screen)) {
        return yield* new UnknownScreen({ screen: printableLine(screen, maxName), known })
      }
      return yield* ask(screen)
    })
    const picture = RequestBody.read.pipe(
      Effect.flatMap(readQuestion),
      Effect.flatMap(({ screen }) =>
        Effect.match(takePicture(screen), {
          onFailure: (error) => json({ error: serializeError(error) }, 500),
          onSuccess: ({ jpeg, takenAt }) => result({ takenAt, jpeg: Encoding.encodeBase64(jpeg) })
        })
      )
    )
    const stopOnce = yield* Effect.once(stop)
    const stopping = Effect.gen(function* () {
      const asking = decodeAsking(Buffer.from(yield* RequestBody.read).toString("utf8"))
      if (Option.isSome(asking)) {
        const by = printableLine(asking.value.by, maxName)
        yield* noteStop(by)
      }
      yield* Effect.forkDaemon(stopOnce)
      return result(null)
    })
    const server = yield* Application.make({
      routes: [
        ...routes,
        HttpLayerRouter.route(
          "GET",
          "/view",
          Effect.map(read, ({ view }) => json(view))
        ),
        HttpLayerRouter.route("POST", "/picture", picture),
        HttpLayerRouter.route("GET", "/process", json({ pid: process.pid, configuration })),
        HttpLayerRouter.route("POST", "/stop", stopping)
      ],
      refuse: Option.none,
      connections: ConnectionLimit.make(maxConnections, "Close one first."),
      headers: () => ({}),
      answersHead: false
    })
    yield* socketAddress(paths.socket).pipe(
      Effect.flatMap((path) => listenAt(server, { path }, eventStream.close)),
      Effect.mapError(unusable(paths.socket))
    )
    if (process.platform !== "win32") {
      yield* Effect.tryPromise({ try: () => chmod(paths.socket, 0o600), catch: unusable(paths.socket) })
    }
    yield* Effect.logDebug(`The controller listens at ${paths.socket}`)
  })

/** Who asks for the shutdown. Earlier versions do not say. */
const decodeAsking = Schema.decodeUnknownOption(
  Schema.parseJson(Schema.Struct({ by: Schema.NonEmptyString }))
)
const maxName = 64

/**
 * Claims the folder, and serves the controller until the scope ends.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (
  options: IpcServerOptions
): Effect.Effect<
  ControllerPaths,
  ControllerAlreadyRunning | IpcSocketUnusable,
  CommandBus | EventBus | ControllerState | Scope.Scope
> => Effect.tap(claim(options), (paths) => serve(paths, options))

/**
 * As `make`, as a layer.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (
  options: IpcServerOptions
): Layer.Layer<
  never,
  ControllerAlreadyRunning | IpcSocketUnusable,
  CommandBus | EventBus | ControllerState
> => Layer.scopedDiscard(make(options))

/** Every event of the bus from now on. A gap ends the streams, so that no client takes them for complete. */
const makeEventStream = Effect.gen(function* () {
  const log = Runtime.runFork(yield* Effect.runtime())
  const fellBehind = Effect.logWarning(
    "A client that reads events over the controller's socket fell behind, and was disconnected."
  )
  return yield* EventStream.makeSockets({
    events: ["*"],
    keepAliveMs: 15_000,
    makeRecorder: () => ({ ...unrecorded, left: (missed) => missed > 0 && log(fellBehind) }),
    maxClients: maxConnections,
    replayEvents: [],
    subject: "The controller's socket",
    unsendable: unframeable
  })
}).pipe(Effect.provideServiceEffect(ReplayBacklog, ReplayBacklogMemory.make))
