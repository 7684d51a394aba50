/**
 * How an answer is written.
 */
import type { ServerResponse } from "node:http"
import type { HttpServerResponse } from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import { readInTime } from "../../http/stallTimeout.ts"

/**
 * Writes an answer in one piece, unless the end of the response was written already, and returns it.
 *
 * The platform would wait until it is sent: for ever, where the client of a pipelined request has gone.
 */
export const writeResponse = (
  response: ServerResponse,
  answer: HttpServerResponse,
  /** Beside those of the answer. */
  corsHeaders: Readonly<Record<string, string>>
): Effect.Effect<HttpServerResponse> =>
  Effect.suspend(() => {
    if (response.writableEnded) {
      return Effect.succeed(answer)
    }
    const { body, headers, status } = answer
    response.writeHead(
      status,
      body._tag === "Uint8Array"
        ? { ...headers, ...corsHeaders, "content-length": body.contentLength }
        : { ...headers, ...corsHeaders }
    )
    response.end(body._tag === "Uint8Array" ? body.body : undefined)
    return Effect.as(readInTime(response), answer)
  })
