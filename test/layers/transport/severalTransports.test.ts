/**
 * Transports side by side in one program: each is its own, whatever Layers share otherwise.
 */
import { expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as HttpTransportLayer from "../../../src/layers/transport/HttpTransport.ts"
import { HttpTransport } from "../../../src/services/HttpTransport.ts"
import * as rawHttp from "../../support/rawHttp.ts"
import { memoryServices, register } from "../../support/transport.ts"

class Front extends Context.Tag("Front")<Front, typeof HttpTransport.Service>() {}
class Back extends Context.Tag("Back")<Back, typeof HttpTransport.Service>() {}

const front = HttpTransportLayer.layer({ port: 0, allowedCommands: ["front"] })
const back = HttpTransportLayer.layer({ port: 0, allowedCommands: ["back"], exposeState: true })

const both = Layer.mergeAll(
  Layer.project(front, HttpTransport, Front, (transport) => transport),
  Layer.project(back, HttpTransport, Back, (transport) => transport)
).pipe(Layer.provideMerge(memoryServices()))

const statusOf = (transport: typeof HttpTransport.Service, request: rawHttp.Request) =>
  Effect.map(rawHttp.request(Option.getOrThrow(transport.address).port, request), (answer) => answer.status)

it.scoped("two transports on the same buses have routes and options of their own", () =>
  Effect.gen(function* () {
    yield* register("front", Effect.void)
    yield* register("back", Effect.void)
    const send = (transport: typeof HttpTransport.Service, type: string) =>
      statusOf(transport, { method: "POST", target: "/command", body: JSON.stringify({ type }) })
    const results = yield* Effect.forEach([yield* Front, yield* Back], (transport) =>
      Effect.all({
        front: send(transport, "front"),
        back: send(transport, "back"),
        state: statusOf(transport, { target: "/state" })
      })
    )
    expect(results).toEqual([
      { front: 200, back: 403, state: 404 },
      { front: 403, back: 200, state: 200 }
    ])
  }).pipe(Effect.provide(both))
)
