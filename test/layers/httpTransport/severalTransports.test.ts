/**
 * Transports side by side in one program: each is its own, whatever Layers share otherwise.
 */
import { expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as HttpTransportLayer from "../../../src/layers/httpTransport/HttpTransport.ts"
import { HttpTransport } from "../../../src/layers/httpTransport/HttpTransport.ts"
import type { HttpTransportConfig } from "../../../src/layers/httpTransport/HttpTransportOptions.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { ReplayBacklog } from "../../../src/services/ReplayBacklog.ts"
import * as rawHttp from "../../support/rawHttp.ts"
import { memoryServices, publish, register } from "../../support/transport.ts"
import { eventually } from "../../support/waiting.ts"

class Front extends Context.Tag("Front")<Front, typeof HttpTransport.Service>() {}
class Back extends Context.Tag("Back")<Back, typeof HttpTransport.Service>() {}

const front = HttpTransportLayer.layer({ port: 0, allowedCommands: ["front"] })
const back = HttpTransportLayer.layer({
  port: 0,
  name: "back",
  allowedCommands: ["back"],
  exposeState: true
})

const both = Layer.mergeAll(
  Layer.project(front, HttpTransport, Front, (transport) => transport),
  Layer.project(back, HttpTransport, Back, (transport) => transport)
).pipe(Layer.provideMerge(memoryServices()))

const statusOf = (transport: typeof HttpTransport.Service, request: rawHttp.Request) =>
  Effect.map(rawHttp.request(Option.getOrThrow(transport.address).port, request), (answer) => answer.status)

it.scoped("two transports on the same buses have their own routes and options", () =>
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

it.scoped("a client gets the replay of its own transport, even if others remember more", () =>
  Effect.gen(function* () {
    const services = Layer.succeedContext(yield* Layer.build(memoryServices()))
    const transportOf = (options: HttpTransportConfig) =>
      Layer.build(HttpTransportLayer.layer({ port: 0, ...options })).pipe(
        Effect.map(Context.get(HttpTransport)),
        Effect.map(({ address }) => Option.getOrThrow(address).port)
      )
    const readBody = (port: number) =>
      Effect.flatMap(rawHttp.connect(port), ({ received, send }) => {
        send(rawHttp.format({ target: "/events" }))
        return Effect.map(
          received.until((text) => text.includes(promotedFrame)),
          (text) => rawHttp.parse(text).body
        )
      })
    yield* Effect.gen(function* () {
      const admin = yield* transportOf({
        name: "admin",
        events: ["admin:*", "content:*"],
        replayEvents: ["admin:token", "content:live", "content:version:promoted"]
      })
      const guest = yield* transportOf({})
      const blind = yield* transportOf({
        name: "blind",
        events: ["content:version:*"],
        replayEvents: [promoted]
      })
      const backlog = yield* ReplayBacklog
      yield* backlog.remember({ name: "content:a\nevent: admin:token", data: '"injected"', sequence: 0 })
      yield* publish("admin:token", "secret")
      yield* publish("content:live", 1)
      yield* publish(promoted, 2)
      yield* eventually(Effect.map(backlog.snapshot, ({ length }) => length === 4))
      expect(yield* readBody(admin)).toBe(
        `retry: 2000\n\nevent: admin:token\ndata: "secret"\n\nevent: content:live\ndata: 1\n\n${promotedFrame}`
      )
      expect(yield* readBody(guest)).toBe(`retry: 2000\n\n${promotedFrame}`)
      expect(yield* readBody(blind)).toBe(`retry: 2000\n\n${promotedFrame}`)
    }).pipe(Effect.provide(services))
  })
)

const promoted = "content:version:promoted"
const promotedFrame = `event: ${promoted}\ndata: 2\n\n`

it.scoped("transports with names are listed separately in the state and the status", () =>
  Effect.gen(function* () {
    const services = yield* Layer.build(memoryServices())
    const named = (options: HttpTransportConfig) =>
      Layer.build(HttpTransportLayer.layer({ port: 0, ...options })).pipe(
        Effect.map(Context.get(HttpTransport)),
        Effect.map(({ address }) => `http://127.0.0.1:${Option.getOrThrow(address).port}`)
      )
    yield* Effect.gen(function* () {
      const url = yield* named({})
      const other = yield* named({ name: "desk", maxClients: 5 })
      const { state, status } = yield* ControllerState
      expect((yield* state).plugins).toMatchObject({
        "http-transport": { url, maxClients: 32 },
        desk: { url: other, maxClients: 5, mostClients: 0 }
      })
      expect((yield* status).sections.map(({ name, title }) => [name, title])).toEqual([
        ["http-transport", "HTTP transport"],
        ["desk", "HTTP transport: desk"]
      ])
    }).pipe(Effect.provide(services))
  })
)

it.scoped("transports with one name are an error, until one of them ends", () =>
  Effect.gen(function* () {
    const services = yield* Layer.build(memoryServices())
    const build = (layer: ReturnType<typeof HttpTransportLayer.layer>) =>
      Layer.build(layer).pipe(Effect.scoped, Effect.provide(services))
    yield* Effect.scoped(
      Effect.gen(function* () {
        yield* Layer.build(HttpTransportLayer.layer({ port: 0, name: "desk" }))
        const error = yield* Effect.flip(build(HttpTransportLayer.layer({ port: 0, name: "desk" })))
        expect(error.message).toContain(
          'name: another transport is called "desk" already. Give each transport its own name.'
        )
        yield* build(HttpTransportLayer.layer({ port: 0 }))
      }).pipe(Effect.provide(services))
    )
    yield* build(HttpTransportLayer.layer({ port: 0, name: "desk" }))
  })
)
