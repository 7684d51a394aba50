/**
 * An event stream as the response to a request.
 *
 * The body has no length and is not chunked: it is what follows on the connection until its end. So frames are
 * written to the socket itself, one write for each, and all clients share their bytes.
 */
import type { ServerResponse } from "node:http"
import type { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import { type FrameSink, QueueLimit } from "../fanOut/FanOut.ts"
import type { TooManyClients } from "./errors.ts"
import { written } from "./RequestHandler.ts"
import * as SseFrame from "./SseFrame.ts"
import { closed } from "./stallTimeout.ts"

export interface EventStream {
  /** Makes the sink that of a client. */
  readonly join: (sink: FrameSink) => Effect.Effect<void, TooManyClients>
  /** From now on the sink is given nothing more, and its slot is free. Harmless for one that is no client. */
  readonly leave: (sink: FrameSink) => void
}

/**
 * Answers with the event stream, for as long as the client stays.
 *
 * A client that falls too far behind is disconnected. It reconnects after two seconds and is given the backlog;
 * what was only live in between it misses.
 *
 * It is done when the stream has begun: a fiber that waited for the end of each was measured to need twice the memory.
 */
export const open = (
  to: HttpServerRequest,
  eventStream: EventStream,
  headers: Headers
): Effect.Effect<HttpServerResponse.HttpServerResponse, TooManyClients> =>
  Effect.suspend(() => {
    const response = NodeHttpServerRequest.toServerResponse(to)
    // An unread body would keep the server from learning that the client has gone.
    response.req.resume()
    const sink = new SocketSink(response, headers)
    return Effect.map(eventStream.join(sink), () => {
      leaveWithClient(response, sink, eventStream.leave)
      return written
    })
  })

/** Waits for the end of the stream that a request was answered with. */
export const ended = (request: HttpServerRequest): Effect.Effect<void> =>
  closed(NodeHttpServerRequest.toServerResponse(request))

/** By listeners that keep nothing else of the request in memory. */
const leaveWithClient = (response: ServerResponse, sink: FrameSink, leave: EventStream["leave"]) => {
  const { socket } = response.req
  if (socket.destroyed) {
    leave(sink)
    return
  }
  response.once("close", () => leave(sink))
  // A client that has closed its side has gone: it must not take up a stream until something is written to it.
  if (socket.readableEnded) {
    response.end()
  } else {
    // In front of the listener that looks whether something is still waited for.
    socket.prependOnceListener("end", () => {
      response.end()
      socket.end()
    })
  }
}

type Headers = Readonly<Record<string, string>>

/** A class, as `QueueLimit` is. */
class SocketSink implements FrameSink {
  private readonly limit = new QueueLimit()

  constructor(
    private readonly response: ServerResponse,
    private readonly headers: Headers
  ) {}

  begin(frames: Uint8Array): void {
    const { socket } = this.response.req
    this.limit.begin(frames)
    // The backlog leaves together with the head.
    socket.cork()
    writeHead(this.response, this.headers)
    socket.write(frames)
    process.nextTick(() => socket.uncork())
  }

  send(frames: Uint8Array): boolean {
    const { socket } = this.response.req
    const isAdmitted = this.limit.admits(socket.writableLength, frames)
    if (isAdmitted) {
      socket.write(frames)
    } else {
      socket.destroy()
    }
    return isAdmitted
  }

  queuedBytes(): number {
    return this.response.req.socket.writableLength
  }

  end(): void {
    this.response.end()
  }
}

/** Node adds no `Transfer-Encoding` where it was removed: the body ends with the connection. */
const writeHead = (response: ServerResponse, headers: Headers) => {
  response.removeHeader("Transfer-Encoding")
  response.writeHead(200, {
    ...headers,
    ...SseFrame.headers,
    Connection: "close"
  })
  response.flushHeaders()
}
