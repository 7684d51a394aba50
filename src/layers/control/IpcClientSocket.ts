/**
 * The client of a controller's socket.
 *
 * Each request has its own connection: no connection must be kept alive, and a caller that stops waiting closes its
 * connection.
 */
import * as Http from "node:http"
import type { Readable } from "node:stream"
import { text as readText } from "node:stream/consumers"
import * as NodeStream from "@effect/platform-node/NodeStream"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { socketAddress } from "../../files/folderLock.ts"
import { makeEventReader } from "../../internal/eventReader.ts"
import { jsonText } from "../../internal/jsonText.ts"
import { excerpt } from "../../internal/printable.ts"
import { withTimeout } from "../../internal/Schedules.ts"
import { messageOf, serializeError } from "../../internal/SerializedError.ts"
import { optional } from "../../internal/schemas.ts"
import { errorCode } from "../../internal/serializeError.ts"
import {
  CommandRefused,
  ControllerNotRunning,
  ControllerUnreachable,
  ControllerUnresponsive,
  IpcClient,
  IpcConnectionLost,
  type IpcError,
  type IpcEvent,
  IpcProtocolError
} from "../../services/IpcClient.ts"
import { View } from "../../services/View.ts"
import { belongsTo, distrust } from "./controllerPaths.ts"
import { locateController } from "./runFolder.ts"

/** How long the controller may take to respond, except to a command. */
const patienceSeconds = 5

/**
 * The client of the controller with this socket or named pipe. Connects only for requests.
 *
 * @since 0.1.0
 * @category layers
 */
export const layer = (path: string): Layer.Layer<IpcClient> => Layer.effect(IpcClient, make(path))

/**
 * The client of the controller whose configuration is in `folder`, and whose socket is in `runFolder`, if given.
 *
 * @since 0.1.0
 * @category layers
 */
export const layerOfFolder = (folder: string, runFolder?: string): Layer.Layer<IpcClient> =>
  Layer.unwrapEffect(Effect.map(locateController(folder, runFolder), ({ socket }) => layer(socket)))

/**
 * The client of the controller with this socket or named pipe. Connects only for requests.
 *
 * @since 0.1.0
 * @category constructors
 */
export const make = (path: string): Effect.Effect<typeof IpcClient.Service> =>
  Effect.sync(() => {
    const lost = new IpcConnectionLost({ path })
    const garbled = (detail: string) => new IpcProtocolError({ path, detail: excerpt(detail) })

    const inTime = withTimeout(
      `${patienceSeconds} seconds`,
      () => new ControllerUnresponsive({ path, seconds: patienceSeconds })
    )

    const understood = <A>(route: string, read: () => A) =>
      Effect.try({
        try: read,
        catch: () => garbled(`its response to "${route}" is invalid. Is it another version of Vitrine?`)
      })
    const decode = <A, I>(route: string, schema: Schema.Schema<A, I>, text: string) =>
      understood(route, () => Schema.decodeUnknownSync(Schema.parseJson(schema), { exact: true })(text))

    const textOf = ({ body }: Response) => Effect.tryPromise({ try: () => readText(body), catch: () => lost })

    /** Gives the response; fails if it is a refusal. */
    const request = Effect.fnUntraced(function* (method: string, route: string, body?: object) {
      const response = yield* send(path, method, route, body)
      if (response.status === 200) {
        return response
      }
      const { error } = yield* Effect.flatMap(textOf(response), (text) => decode(route, Refusal, text))
      // Other statuses, such as that of too many running commands, have a name if the error is that of a command.
      return yield* response.status === 500 || Predicate.hasProperty(error, "name")
        ? new CommandRefused({
            description: serializeError(error),
            failure: Predicate.hasProperty(error, "failure") ? error.failure : undefined
          })
        : garbled(`it refused the request. ${messageOf(error)}`)
    })

    const call = <A, I>(schema: Schema.Schema<A, I>, method: string, route: string, body?: object) =>
      request(method, route, body).pipe(
        Effect.flatMap(textOf),
        Effect.flatMap((text) => decode(route, schema, text)),
        Effect.scoped
      )

    /** A query is no command, so a refusal like that of a command is an invalid response. */
    const query = <A, R>(answer: Effect.Effect<A, IpcError | CommandRefused, R>) =>
      inTime(Effect.catchTag(answer, "vitrine/CommandRefused", ({ message }) => garbled(message)))

    const process = query(call(ControllerProcess, "GET", "/process"))

    const eventsOf = ({ body }: Response) => {
      const read = makeEventReader()
      return NodeStream.fromReadable<IpcConnectionLost, Uint8Array>(
        () => body,
        () => lost,
        { closeOnDone: false }
      ).pipe(
        Stream.decodeText(),
        Stream.mapConcat((text) => read(text).events),
        Stream.mapEffect(({ data, event = "" }) =>
          understood("/events", (): IpcEvent => ({ name: event, payload: JSON.parse(data) }))
        ),
        Stream.concat(Stream.fail(lost))
      )
    }

    return IpcClient.of({
      process,
      view: query(call(View, "GET", "/view")),
      stop: (by) => Effect.asVoid(query(call(Stopping, "POST", "/stop", { by }))),
      // A controller that does not even tell its process id would never respond.
      dispatch: (command) =>
        Effect.zipRight(
          process,
          Effect.map(call(Result, "POST", "/command", command), ({ result }) => result)
        ),
      picture: (screen) =>
        Effect.zipRight(
          process,
          Effect.map(call(Picture, "POST", "/picture", { screen }), ({ result }) => result)
        ),
      events: Effect.map(query(request("GET", "/events")), eventsOf)
    })
  })

const ControllerProcess = Schema.Struct({
  pid: Schema.Int,
  configuration: optional(Schema.String)
})
const Stopping = Schema.Struct({ result: Schema.Null })
const Result = Schema.Struct({ result: Schema.Unknown })
const Picture = Schema.Struct({
  result: Schema.Struct({ takenAt: Schema.String, jpeg: Schema.Uint8ArrayFromBase64 })
})
const Refusal = Schema.Struct({ error: Schema.Unknown })

interface Response {
  readonly status: number | undefined
  readonly body: Readable
}

/**
 * Sends a request over a new connection, and waits for the head of the response. The connection closes with the scope.
 */
const send = Effect.fnUntraced(function* (path: string, method: string, route: string, body?: object) {
  yield* checkSocket(path)
  const socketPath = yield* Effect.mapError(socketAddress(path), (error) => connectError(path, error))
  const request = yield* Effect.acquireRelease(
    Effect.sync(() => Http.request({ agent: false, method, path: route, socketPath })),
    (request) => Effect.sync(() => request.destroy())
  )
  return yield* Effect.async<Response, IpcError>((resume) => {
    request
      .once("response", (body) => resume(Effect.succeed({ status: body.statusCode, body })))
      .on("error", (error) => resume(Effect.fail(connectError(path, error))))
      .end(body && jsonText(body))
  })
})

const checkSocket = (path: string): Effect.Effect<void, IpcError> =>
  Effect.tryPromise({ try: () => distrust(path), catch: (error) => connectError(path, error) }).pipe(
    Effect.flatMap((detail) =>
      detail === undefined ? Effect.void : new ControllerUnreachable({ path, detail })
    )
  )

const connectError = (path: string, error: unknown): IpcError => {
  const code = errorCode(error)
  if (code?.startsWith("HPE_")) {
    return new IpcProtocolError({ path, detail: notHttp })
  }
  switch (code) {
    case "ENOENT":
    case "ENOTDIR":
    case "ECONNREFUSED":
      return new ControllerNotRunning({ path })
    case "EACCES":
    case "EPERM":
      return new ControllerUnreachable({ path, detail: belongsTo("another user") })
    case "ECONNRESET":
    case "EPIPE":
      return new IpcConnectionLost({ path })
    default:
      return new ControllerUnreachable({ path, detail: messageOf(error) })
  }
}

const notHttp =
  "it does not speak HTTP. Perhaps an earlier version of Vitrine has started it: end its process, whose id is in controller.pid, and start it again."
