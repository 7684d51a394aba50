/**
 * What can be asked of a controller over its socket (the table is in `IpcServer.ts`).
 */
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Schema from "effect/Schema"
import { serializeError } from "../../internal/SerializedError.ts"
import { type Command, CommandBus } from "../../services/CommandBus.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import type { FanOutSink } from "../fanOut/FanOut.ts"
import type { EventFeed } from "./EventFeed.ts"
import { errorCode, type Request, RpcError } from "./JsonRpc.ts"

export interface Answer {
  readonly result: unknown
  /** Done in the same step as the answer is sent: what it brings about comes after the answer. */
  readonly afterwards?: () => void
}

/** Carries out what a connection asks for. */
export type Methods = (
  request: Pick<Request, "method" | "params">,
  connection: FanOutSink
) => Effect.Effect<Answer, RpcError>

const DispatchParams = Schema.Struct({
  command: Schema.declare(
    (value): value is Command =>
      typeof value === "object" &&
      value !== null &&
      !Array.isArray(value) &&
      "type" in value &&
      typeof value.type === "string"
  )
})
const decodeDispatchParams = Schema.decodeUnknown(DispatchParams)

export const make = Effect.fnUntraced(function* (feed: EventFeed, stop: Effect.Effect<void>) {
  const commands = yield* CommandBus
  const { state, status } = yield* ControllerState
  const run = Runtime.runFork(yield* Effect.runtime())
  const stopOnce = yield* Effect.once(stop)

  const dispatch = (params: unknown) =>
    decodeDispatchParams(params).pipe(
      Effect.mapError(
        () =>
          new RpcError({
            code: errorCode.invalidParams,
            message: '"params" must be { "command": … }, where the command is an object with a string "type".'
          })
      ),
      Effect.flatMap(({ command }) =>
        Effect.mapError(commands.dispatch(command), (error) => {
          const data = serializeError(error)
          return new RpcError({ code: errorCode.commandFailed, message: data.message, data })
        })
      ),
      // Whoever shuts down must not wait for a command that cannot be interrupted.
      Effect.disconnect
    )

  const methods: Methods = ({ method, params }, connection) => {
    switch (method) {
      case "process":
        return Effect.sync(() => ({ result: { pid: process.pid } }))
      case "status":
        return Effect.map(status, (result) => ({ result }))
      case "state":
        return Effect.map(state, (result) => ({ result }))
      case "dispatch":
        return Effect.map(dispatch(params), (result) => ({ result }))
      case "subscribe":
        return Effect.succeed({ result: null, afterwards: () => feed.subscribe(connection) })
      case "unsubscribe":
        return Effect.succeed({ result: null, afterwards: () => feed.unsubscribe(connection) })
      case "stop":
        return Effect.succeed({ result: null, afterwards: () => run(stopOnce) })
      default:
        return new RpcError({
          code: errorCode.methodNotFound,
          message: `There is no method ${JSON.stringify(method)}. There are: ${methodNames.join(", ")}.`
        })
    }
  }
  return methods
})

const methodNames = ["process", "status", "state", "dispatch", "subscribe", "unsubscribe", "stop"]
