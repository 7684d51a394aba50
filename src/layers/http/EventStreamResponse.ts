/**
 * An event stream as the response to a request.
 *
 * The body has no length and is not chunked: it ends with the connection. So each frame is written directly to the
 * socket with one write, and all clients share its bytes.
 */
import type { ServerResponse } from "node:http"
import type { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import type * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import { type FrameSink, QueueLimit } from "../fanOut/FanOut.ts"
import type { TooManyClients } from "./errors.ts"
import { responseTo, written } from "./RequestHandler.ts"
import * as SseFrame from "./SseFrame.ts"
import { closed, cutSoon } from "./stallTimeout.ts"

export interface EventStream {
  /** Adds a client: its sink gets the preamble, then every frame. */
  readonly join: (sink: FrameSink) => Effect.Effect<void, TooManyClients>
  /** Removes a client: its sink gets nothing more, and its slot is free. Does nothing for other sinks. */
  readonly leave: (sink: FrameSink) => void
}

/**
 * Answers with the event stream, for as long as the client stays.
 *
 * A client that falls too far behind is disconnected, as is a client that does not read the end of its stream within a second. It reconnects after two seconds and gets the backlog; it misses
 * live events that are not in the backlog.
 *
 * Returns when the stream has begun. A fiber that waits for the end of each stream needs twice the memory (measured).
 */
export const open = (
  to: HttpServerRequest,
  eventStream: EventStream,
  headers: Headers
): Effect.Effect<HttpServerResponse.HttpServerResponse, TooManyClients> =>
  Effect.suspend(() => {
    const response = responseTo(to)
    // An unread body would keep the server from learning that the client has gone.
    response.req.resume()
    const sink = new SocketSink(response, headers)
    return Effect.map(eventStream.join(sink), () => {
      leaveWithClient(response, sink, eventStream.leave)
      return written
    })
  })

/** Waits until the event stream of a request has ended. */
export const ended = (request: HttpServerRequest): Effect.Effect<void> => closed(responseTo(request))

/** Uses listeners that keep nothing else of the request in memory. */
const leaveWithClient = (response: ServerResponse, sink: FrameSink, leave: EventStream["leave"]) => {
  const { socket } = response.req
  if (socket.destroyed) {
    leave(sink)
    return
  }
  response.once("close", () => leave(sink))
  // A client that has closed its side has gone: it must not occupy a stream until the next write fails.
  if (socket.readableEnded) {
    response.end()
  } else {
    // Runs before the listener that keeps a half-closed connection open for unsent responses.
    socket.prependOnceListener("end", () => {
      response.end()
      socket.end()
    })
  }
}

type Headers = Readonly<Record<string, string>>

/** A class like `QueueLimit`: there is an instance for each client. */
class SocketSink implements FrameSink {
  /** Otherwise clients that do not read could have more connections than there are places. */
  get leavesLater() {
    return true
  }

  private readonly limit = new QueueLimit()

  constructor(
    private readonly response: ServerResponse,
    private readonly headers: Headers
  ) {}

  begin(frames: Uint8Array): void {
    const { socket } = this.response.req
    this.limit.begin(frames)
    // Sends the backlog together with the head.
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
    cutSoon(this.response.req.socket)
  }
}

/** Node adds no `Transfer-Encoding` if the header was removed: the body ends with the connection. */
const writeHead = (response: ServerResponse, headers: Headers) => {
  response.removeHeader("Transfer-Encoding")
  response.writeHead(200, {
    ...headers,
    ...SseFrame.headers,
    Connection: "close"
  })
  response.flushHeaders()
}
