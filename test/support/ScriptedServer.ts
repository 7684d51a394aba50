/**
 * An HTTP server with scripted responses, one for each request, and a queue of the requests that it received.
 */

import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as Queue from "effect/Queue"
import { holdConnection } from "../../src/testing/advancingClock.ts"

export interface ReceivedRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** Done when the connection of the request is closed. */
  readonly closed: Deferred.Deferred<void>
}

export type Answer = (response: ServerResponse, request: ReceivedRequest) => void

export const json =
  (status: number, body: unknown, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body))

export const text =
  (status: number, body: string | Uint8Array, headers: Record<string, string> = {}): Answer =>
  (response) =>
    response.writeHead(status, headers).end(body)

/** A response that never ends, while the clock of tests `withAdvancingClock` advances. */
export const holding =
  (answer: Answer): Answer =>
  (response, request) => {
    response.socket?.once("close", holdConnection())
    answer(response, request)
  }

/** A connection without a result until the scope ends, while the clock of such tests advances. */
export const oneConnection = Effect.acquireRelease(Effect.sync(holdConnection), Effect.sync)

/** Never responds. */
export const silence: Answer = () => {}

/** Breaks off in the middle of the body. */
export const stalledBody: Answer = (response) => response.writeHead(200).write('{"records":[')

/** Bytes in place of a response; then the connection is closed, reset, or left as it is. */
export const raw = (bytes: string, then: "end" | "hold" | "reset" = "end"): Answer => {
  const answer: Answer = ({ socket }) => {
    socket?.write(bytes)
    if (then === "end") socket?.end()
    if (then === "reset") socket?.resetAndDestroy()
  }
  return then === "hold" ? holding(answer) : answer
}

/** The bytes of a response with the status 200. */
export const ok = (headers: string, body: string): string => `HTTP/1.1 200 OK\r\n${headers}\r\n${body}`

/** Closes the connection without an answer. */
export const hangUp: Answer = (response) => response.destroy()

export const make = (answer: Answer) =>
  Effect.gen(function* () {
    const received = yield* Queue.unbounded<ReceivedRequest>()
    const script: Array<Answer> = []
    const server = yield* Effect.acquireRelease(
      Effect.async<ReturnType<typeof createServer>>((resume) => {
        const server = createServer(({ headers, method = "", socket, url = "" }, response) => {
          const closed = Deferred.unsafeMake<void>(FiberId.none)
          socket.once("close", () => Deferred.unsafeDone(closed, Effect.void))
          // A connection that is kept for later is nothing that is under way.
          socket.setMaxListeners(0).ref()
          response.once("close", () => socket.unref())
          const request = { method, url, headers, closed }
          received.unsafeOffer(request)
          const next = script.shift() ?? answer
          next(response, request)
        })
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.async<void>((resume) => {
          server.close(() => resume(Effect.void))
          server.closeAllConnections()
        })
    )
    return {
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      received,
      /** Sends these responses to the next requests, and then the usual one again. */
      next: (...responses: ReadonlyArray<Answer>) => {
        script.push(...responses)
      },
      /** Removes the responses that were not requested. */
      forget: () => {
        script.length = 0
      }
    }
  })
