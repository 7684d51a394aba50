import { subscribe, unsubscribe } from "node:diagnostics_channel"
import { IncomingMessage } from "node:http"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as TestClock from "effect/TestClock"
import { checkEvery, maxUnread, stallTimeout } from "../../../src/layers/http/stallTimeout.ts"
import { holdCommand } from "../../support/heldCommand.ts"
import * as lifetime from "../../support/lifetime.ts"
import { format } from "../../support/rawHttp.ts"
import * as transport from "../../support/transport.ts"
import { eventLoopTurn, eventually, somebodySleepsFor } from "../../support/waiting.ts"

const headers = { Connection: "keep-alive" }
const command = format({ method: "POST", target: "/command", headers, body: '{"type":"content.ack"}' })

/** Collects the requests that servers of this process begin to handle. */
const requestsOfServers = Effect.acquireRelease(
  Effect.sync(() => {
    const requests: Array<IncomingMessage> = []
    const add = (message: unknown) => {
      if (Predicate.hasProperty(message, "request") && message.request instanceof IncomingMessage) {
        requests.push(message.request)
      }
    }
    subscribe("http.server.request.start", add)
    return { requests, add }
  }),
  ({ add }) => Effect.sync(() => unsubscribe("http.server.request.start", add))
).pipe(Effect.map(({ requests }) => requests))

describe("a client that stops sending", () => {
  it.scoped.each([
    ["a command", [command]],
    ["a command behind another request", [format({ target: "/status", headers }), command]],
    ["a command in front of another request", [command, format({ target: "/status", headers })]]
  ] as const)("gets the responses that it waits for: %s", ([, requests]) =>
    Effect.gen(function* () {
      const { release, started } = yield* holdCommand("content.ack")
      const { finish, received, send } = yield* transport.connect
      send(Buffer.concat(requests))
      yield* started
      finish()
      // Until the server has seen that.
      yield* Effect.repeatN(eventLoopTurn, 100)
      yield* release("late")
      const text = yield* received.whole
      expect(text).toContain('{"result":"late"}')
      expect(text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(requests.length)
    }).pipe(Effect.provide(transport.layer()))
  )

  it.scoped("is disconnected after a moment, while its command continues", () =>
    Effect.gen(function* () {
      const before = yield* lifetime.whatIsThere
      const { release, started } = yield* holdCommand("content.ack")
      const { finish, received, send } = yield* transport.connect
      send(command)
      yield* started
      finish()
      yield* somebodySleepsFor(stallTimeout)
      yield* TestClock.adjust(stallTimeout)
      expect(yield* received.whole).toBe("")
      yield* release("too late")
      yield* before.isAllAgain()
    }).pipe(Effect.provide(transport.layer({ keepAliveMs: 2_147_483_647 })))
  )

  it.scoped("is disconnected where it waits for nothing", () =>
    Effect.gen(function* () {
      const before = yield* lifetime.whatIsThere
      const { finish, received, send } = yield* transport.connect
      send(format({ target: "/status", headers }))
      yield* received.until((text) => text.includes("HTTP/1.1 200 OK"))
      finish()
      yield* received.whole
      yield* before.isAllAgain()
    }).pipe(Effect.provide(transport.layer()))
  )
})

describe("a response that is not read", () => {
  it.scoped("is kept only for a moment", () =>
    Effect.gen(function* () {
      const before = yield* lifetime.whatIsThere
      const { ended, release } = yield* holdCommand("content.ack")
      const { received, send, stall } = yield* transport.connect
      stall()
      send(command)
      yield* release("x".repeat(20_000_000))
      yield* ended
      // From one look at it to the next.
      for (let look = 0; look < 7; look++) {
        yield* Effect.repeatN(eventLoopTurn, 20)
        yield* TestClock.adjust(checkEvery)
      }
      // The client's own socket stays.
      yield* before.isAllAgain(1)
      expect(received.bytes().length).toBeLessThan(20_000_000)
    }).pipe(Effect.provide(transport.layer({ keepAliveMs: 2_147_483_647 })))
  )

  it.scoped("is ended at once while too much is kept for others", () =>
    Effect.gen(function* () {
      const size = 30_000_000
      const held = Math.ceil(maxUnread / size)
      let answers = 0
      yield* transport.register(
        "content.ack",
        Effect.sync(() => {
          answers += 1
          return "x".repeat(size)
        })
      )
      const stalled = Effect.gen(function* () {
        const connection = yield* transport.connect
        connection.stall()
        const before = answers
        connection.send(format({ method: "POST", target: "/command", body: '{"type":"content.ack"}' }))
        yield* eventually(Effect.sync(() => answers > before))
        yield* Effect.repeatN(eventLoopTurn, 10)
        return connection
      })
      const read = ({ received, resume }: Effect.Effect.Success<typeof stalled>) =>
        Effect.suspend(() => {
          resume()
          return Effect.map(received.whole, ({ length }) => length)
        })
      const clients = yield* Effect.replicateEffect(stalled, held + 2)
      for (const client of clients.toReversed()) {
        const isHeld = clients.indexOf(client) < held
        expect((yield* read(client)) > size).toBe(isHeld)
      }
      expect(yield* Effect.flatMap(stalled, read)).toBeGreaterThan(size)
    }).pipe(Effect.provide(transport.layer()))
  )

  it.scoped("reaches a client that reads it slowly, in more than the time that it may stay unread", () =>
    Effect.gen(function* () {
      const size = 60_000_000
      yield* transport.register("content.ack", Effect.succeed("x".repeat(size)))
      const { received, resume, send, stall } = yield* transport.connect
      const requests = yield* requestsOfServers
      send(format({ method: "POST", target: "/command", body: '{"type":"content.ack"}' }))
      yield* eventually(Effect.sync(() => requests.length > 0))
      const written = () => requests[0]?.socket.bytesWritten ?? 0
      let looks = 0
      for (let before = 0; before < size; looks++) {
        resume()
        // The system decides how much the client has to read until the server can write again.
        yield* eventually(Effect.sync(() => written() > before))
        stall()
        before = written()
        yield* TestClock.adjust(checkEvery)
      }
      // Six looks take the time that a response may stay unread.
      expect(looks).toBeGreaterThan(6)
      resume()
      expect((yield* received.whole).length).toBeGreaterThan(size)
    }).pipe(Effect.provide(transport.layer({ keepAliveMs: 2_147_483_647 })))
  )

  it.scoped("reaches a client that reads, and is not kept any more", () =>
    Effect.gen(function* () {
      const before = yield* lifetime.whatIsThere
      yield* transport.register("content.ack", Effect.succeed("x".repeat(8_000_000)))
      const text = yield* transport.exchange(Buffer.concat([command, format({ target: "/status" })]))
      expect(text.length).toBeGreaterThan(8_000_000)
      expect(text.match(/HTTP\/1\.1 200 OK/g)).toHaveLength(2)
      yield* before.isAllAgain()
    }).pipe(Effect.provide(transport.layer({ keepAliveMs: 2_147_483_647 })))
  )
})
