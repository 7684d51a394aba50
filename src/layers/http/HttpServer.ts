/**
 * A Node server whose every response is the application's own, in the order of the requests.
 */
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http"
import * as Effect from "effect/Effect"
import { type Answer, handleClientErrors, type Refusal } from "./clientErrors.ts"
import { serialized } from "./serialized.ts"
import { allowHalfClosed } from "./stallTimeout.ts"

export interface HttpServerOptions {
  readonly handler: RequestListener
  /** Told of requests that wait for their turn on a connection. */
  readonly onWait?: (request: IncomingMessage) => void
  /** Of the answer to what Node could not parse. */
  readonly headers?: Answer["headers"]
  readonly bodyOf?: (refusal: Refusal) => Answer["body"]
}

/**
 * Milliseconds for which a connection without a request is kept: longer than Node keeps one for its next request, and
 * than a replica waits from one look to the next, 5 seconds both. Whoever closes it must not be the one that is asked.
 */
export const keepAliveTimeout = 15_000

/** Not bound yet: that is `listen`. */
export const make = ({
  bodyOf = ({ message }) => ({ error: { message } }),
  handler,
  headers = {},
  onWait = () => {}
}: HttpServerOptions): Effect.Effect<Server> =>
  Effect.suspend(() => {
    const server = createServer(
      {
        headersTimeout: 10_000,
        requestTimeout: 30_000,
        keepAliveTimeout,
        connectionsCheckingInterval: 2000,
        requireHostHeader: false
      },
      serialized(handler, onWait)
    )
    // Node's own answers would lack what every answer carries, and come before it is their turn.
    for (const event of ["checkContinue", "checkExpectation"]) {
      server.on(event, (request, response) => server.emit("request", request, response))
    }
    return allowHalfClosed(handleClientErrors(server, (refusal) => ({ headers, body: bodyOf(refusal) })))
  })
