/**
 * How a response is written.
 */
import type { ServerResponse } from "node:http"
import type { HttpServerResponse } from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import { readInTime } from "./stallTimeout.ts"

/**
 * Writes a response in one piece, unless it was handed over, and returns it. One that has begun already is cut off, so
 * that the client sees that it is not whole.
 *
 * The platform would wait until it is sent: for ever, where the client of a pipelined request has gone.
 */
export const writeResponse = (
  response: ServerResponse,
  answer: HttpServerResponse
): Effect.Effect<HttpServerResponse> =>
  Effect.suspend(() => {
    if (response.writableEnded) {
      return Effect.succeed(answer)
    }
    if (response.headersSent) {
      response.destroy()
      handOver(response)
      return Effect.succeed(answer)
    }
    const { body, headers, status } = answer
    response.writeHead(
      status,
      body._tag === "Uint8Array" ? { ...headers, "content-length": body.contentLength } : headers
    )
    response.end(body._tag === "Uint8Array" && response.req.method !== "HEAD" ? body.body : undefined)
    return Effect.as(readInTime(response), answer)
  })

/**
 * Leaves the rest of a response to the code that has begun it. The platform, and `writeResponse`, leave one alone whose end was
 * written: they neither answer nor, when its client goes, interrupt the code that answers.
 */
export const handOver = (response: ServerResponse) =>
  Object.defineProperty(response, "writableEnded", { value: true, configurable: true })
