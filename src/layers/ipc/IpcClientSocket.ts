/**
 * The client of a controller's socket.
 *
 * Each question has a connection of its own: there is nothing to keep up, and whoever no longer waits for an
 * answer closes it.
 */
import { lstat } from "node:fs/promises"
import * as Net from "node:net"
import { dirname } from "node:path"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { excerpt } from "../../internal/printable.ts"
import { messageOf, serializeError } from "../../internal/SerializedError.ts"
import { socketAddress } from "../../internal/socketFile.ts"
import {
  CommandRefused,
  ControllerNotRunning,
  ControllerUnreachable,
  ControllerUnresponsive,
  IpcClient,
  IpcConnectionLost,
  type IpcError,
  IpcProtocolError
} from "../../services/IpcClient.ts"
import { GlobalStateSchema, StatusSnapshotSchema } from "./controllerSchemas.ts"
import * as JsonRpc from "./JsonRpc.ts"
import { lineStream } from "./socketLines.ts"
import { locateController } from "./socketPath.ts"
import { isTrustedOwner } from "./trustedOwner.ts"

/** The longest message from the controller that is taken, in bytes. */
const maxMessageBytes = 64 * 1024 * 1024

/** How long the controller may take to answer, but to a command. */
const patienceSeconds = 5

/** The client of the controller whose socket, or named pipe, has the path. Nothing is opened before it is asked for. */
export const layer = (path: string): Layer.Layer<IpcClient> => Layer.effect(IpcClient, make(path))

/** The client of the controller whose configuration lies in the folder, and its socket in `runFolder`, if it has one. */
export const layerOfFolder = (folder: string, runFolder?: string): Layer.Layer<IpcClient> =>
  Layer.unwrapEffect(Effect.map(locateController(folder, runFolder), ({ socket }) => layer(socket)))

const ControllerProcess = Schema.Struct({ pid: Schema.Int })

export const make = (path: string) =>
  Effect.sync(() => {
    const lost = new IpcConnectionLost({ path })
    const garbled = (detail: string) => new IpcProtocolError({ path, detail: excerpt(detail) })

    const inTime = Effect.timeoutFail({
      duration: `${patienceSeconds} seconds`,
      onTimeout: () => new ControllerUnresponsive({ path, seconds: patienceSeconds })
    })

    const messages = (socket: Net.Socket) =>
      lineStream(socket, maxMessageBytes).pipe(
        Stream.mapEffect((line) =>
          line === "too long"
            ? garbled(`it sent a message of more than ${maxMessageBytes} bytes.`)
            : Either.mapLeft(JsonRpc.parseServerMessage(line), () =>
                garbled("it sent something that is no JSON-RPC. Is it another version of Vitrine?")
              )
        )
      )

    /** Sends a request; gives its answer, and what comes after that. */
    const ask = Effect.fnUntraced(function* (method: string, params?: unknown) {
      const socket = yield* connectTo(path)
      socket.write(JsonRpc.request(1, method, params))
      const pull = yield* Stream.toPull(messages(socket))
      const first = yield* Effect.mapError(
        pull,
        Option.getOrElse((): IpcError => lost)
      )
      return {
        answer: yield* Effect.orElseFail(Chunk.head(first), () => lost),
        rest: Stream.concat(Stream.fromChunk(Chunk.drop(first, 1)), Stream.repeatEffectChunkOption(pull))
      }
    })

    /** The result of a request, or why it was refused. */
    const call = (method: string, params?: unknown) =>
      ask(method, params).pipe(
        Effect.flatMap(({ answer }) => resultOf(answer)),
        Effect.scoped
      )

    const resultOf = (answer: JsonRpc.ServerMessage): Effect.Effect<unknown, IpcError | CommandRefused> => {
      if ("result" in answer) {
        return Effect.succeed(answer.result)
      }
      return "error" in answer ? refusal(answer.error) : garbled("it sent an event where an answer was due.")
    }
    const refusal = ({ code, data, message }: { code: number; data?: unknown; message: string }) =>
      code === JsonRpc.errorCode.commandFailed
        ? new CommandRefused({
            description: serializeError(Predicate.hasProperty(data, "message") ? data : { message })
          })
        : garbled(`it refused the request. ${message}`)

    const query = <A, I>(method: string, schema: Schema.Schema<A, I>) =>
      call(method).pipe(
        // Nothing but a command can be refused as one.
        Effect.catchTag("vitrine/CommandRefused", ({ message }) => garbled(message)),
        Effect.flatMap((result) =>
          Effect.try({
            try: () => Schema.decodeUnknownSync(schema)(result),
            catch: () =>
              garbled(`its answer to "${method}" is not understood. Is it another version of Vitrine?`)
          })
        ),
        inTime
      )

    const process = query("process", ControllerProcess)

    return IpcClient.of({
      process,
      status: query("status", StatusSnapshotSchema),
      state: query("state", GlobalStateSchema),
      stop: Effect.asVoid(query("stop", Schema.Null)),
      // One that does not even say who it is would never answer.
      dispatch: (command) => Effect.zipRight(process, call("dispatch", { command })),
      events: ask("subscribe").pipe(
        Effect.tap(({ answer }) =>
          Effect.catchTag(resultOf(answer), "vitrine/CommandRefused", ({ message }) => garbled(message))
        ),
        inTime,
        Effect.map(({ rest }) =>
          rest.pipe(
            Stream.mapEffect((message) =>
              "params" in message
                ? Effect.succeed(message.params)
                : garbled("it sent an answer to no request.")
            ),
            Stream.concat(Stream.fail(lost))
          )
        )
      )
    })
  })

/** A connection that is closed with the scope. */
const connectTo = Effect.fnUntraced(function* (path: string) {
  yield* checkSocket(path)
  const address = yield* Effect.mapError(socketAddress(path), (error) => connectError(path, error))
  const socket = yield* Effect.acquireRelease(
    Effect.sync(() => Net.connect(address)),
    (socket) => Effect.sync(() => socket.destroy())
  )
  yield* Effect.async<void, IpcError>((resume) => {
    socket
      .once("connect", () => resume(Effect.void))
      .on("error", (error) => resume(Effect.fail(connectError(path, error))))
  })
  return socket
})

/**
 * In a folder that everybody may write to, somebody else could wait for this user's commands, or lead them to another
 * controller. A controller makes no links.
 */
const checkSocket = (path: string): Effect.Effect<void, IpcError> =>
  process.platform === "win32"
    ? Effect.void
    : Effect.tryPromise({
        try: () => Promise.all([lstat(path), lstat(dirname(path))]),
        catch: (error) => connectError(path, error)
      }).pipe(
        Effect.filterOrFail(
          (stats) => !stats.some((stats) => stats.isSymbolicLink()),
          () =>
            new ControllerUnreachable({
              path,
              detail: "a link leads there, perhaps to another controller. Remove it."
            })
        ),
        Effect.filterOrFail(
          ([{ uid }]) => isTrustedOwner(uid) || uid === 0,
          ([{ uid }]) => belongsToAnother(path, `user ${uid}`)
        )
      )

const connectError = (path: string, error: unknown): IpcError => {
  const code = error instanceof Error && "code" in error ? error.code : undefined
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
    case "ECONNREFUSED":
      return new ControllerNotRunning({ path })
    case "EACCES":
    case "EPERM":
      return belongsToAnother(path, "another user")
    default:
      return new ControllerUnreachable({ path, detail: messageOf(error) })
  }
}

const belongsToAnother = (path: string, user: string) =>
  new ControllerUnreachable({
    path,
    detail: `it belongs to ${user}. Ask as the user who started the controller.`
  })
