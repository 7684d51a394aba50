/**
 * The HTTP transport on a free port, over services in memory.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as ControllerStateMemory from "../../src/layers/controller/ControllerStateMemory.ts"
import * as HttpTransportLayer from "../../src/layers/httpTransport/HttpTransport.ts"
import { HttpTransport } from "../../src/layers/httpTransport/HttpTransport.ts"
import type { HttpTransportConfig } from "../../src/layers/httpTransport/HttpTransportOptions.ts"
import * as CommandBusMemory from "../../src/layers/memory/CommandBusMemory.ts"
import * as EventBusMemory from "../../src/layers/memory/EventBusMemory.ts"
import * as ReplayBacklogMemory from "../../src/layers/memory/ReplayBacklogMemory.ts"
import { CommandBus } from "../../src/services/CommandBus.ts"
import type { Mode } from "../../src/services/ControllerState.ts"
import { EventBus } from "../../src/services/EventBus.ts"
import * as rawHttp from "./rawHttp.ts"
import { eventually } from "./waiting.ts"

export const memoryServices = (mode: Mode = "persistent") =>
  Layer.mergeAll(
    EventBusMemory.layer,
    CommandBusMemory.layer,
    ReplayBacklogMemory.layer,
    ControllerStateMemory.layer(mode)
  )

export const layer = (options: HttpTransportConfig = {}) =>
  Layer.provideMerge(HttpTransportLayer.layer({ port: 0, ...options }), memoryServices())

export const port = Effect.map(HttpTransport, ({ address }) => Option.getOrThrow(address).port)

export const publish = (name: string, payload: unknown) =>
  Effect.flatMap(EventBus, (bus) => bus.publish(name, payload))

/** Registers a command without fields until the scope ends. */
export const register = (type: string, run: Effect.Effect<unknown, unknown>) =>
  Effect.flatMap(CommandBus, (commands) =>
    commands.register({ type, fields: Schema.Struct({}), run: () => run })
  )

export const connect = Effect.flatMap(port, rawHttp.connect)

export const exchange = (data: string | Uint8Array) =>
  Effect.flatMap(port, (port) => rawHttp.exchange(port, data))

export const request = (request: rawHttp.Request) =>
  Effect.flatMap(port, (port) => rawHttp.request(port, request))

/** A command sent as a browser would send it. */
export const postCommand = (body: string | Uint8Array) =>
  request({ method: "POST", target: "/command", headers: { "Content-Type": "application/json" }, body })

/** Opens an event stream and waits until it has begun. */
export const openEvents = Effect.flatMap(connect, (connection) => {
  connection.send(rawHttp.format({ target: "/events" }))
  return Effect.as(
    connection.received.until((text) => text.includes("retry: 2000\n\n")),
    connection
  )
})

/** Waits until there are so many event streams. */
export const clientsBecome = (count: number) =>
  Effect.flatMap(HttpTransport, ({ clients }) => eventually(Effect.map(clients, (now) => now === count)))
