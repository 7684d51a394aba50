/**
 * A Node server that sends only responses of the application, in the order of the requests, also to requests that Node cannot
 * parse or does not pass on.
 */
import { createServer, type RequestListener, type Server, type ServerResponse, STATUS_CODES } from "node:http"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as RequestBody from "./RequestBody.ts"
import { pathOf, unreadableTarget } from "./RequestHead.ts"
import { allowHalfClosed, cutSoon } from "./stallTimeout.ts"

/**
 * Milliseconds that an idle connection is kept. Longer than a client in Node keeps it, and than a replica waits between
 * polls (5 seconds each): if the server closed it first, a request that was just sent would fail.
 */
export const keepAliveTimeout = 15_000

/** A server that is not bound yet. `refused` makes the answer to requests that Node cannot parse. */
export const make = (
  handler: RequestListener,
  refused: (refusal: Refusal) => RefusalAnswer
): Effect.Effect<Server> =>
  Effect.suspend(() => {
    const server = createServer(
      {
        headersTimeout: 10_000,
        requestTimeout: 30_000,
        keepAliveTimeout,
        connectionsCheckingInterval: 2000,
        requireHostHeader: false
      },
      serialized(handler, RequestBody.begin)
    )
    // Node's own answers would lack our headers, and would overtake earlier responses.
    for (const event of ["checkContinue", "checkExpectation"]) {
      server.on(event, (request, response) => server.emit("request", request, response))
    }
    return allowHalfClosed(handleClientErrors(server, refused))
  })

/** How many requests may wait on a connection, for example behind an event stream. A client that sends more is disconnected. */
export const maxWaiting = 16

/**
 * Handles a request when the earlier requests on its connection are answered; calls `onWait` for a request that must wait.
 *
 * Node emits a pipelined request before the earlier requests on its connection are answered. Its response has no socket
 * until then and never learns that the client has gone: its work would never end.
 */
export const serialized = (handler: RequestListener, onWait: RequestListener): RequestListener => {
  const waiting = new WeakMap<Socket, number>()
  const count = (socket: Socket, change: number) => {
    const now = (waiting.get(socket) ?? 0) + change
    waiting.set(socket, now)
    return now
  }
  return (request, response) => {
    if (response.socket !== null) {
      handler(request, response)
    } else if (count(request.socket, 1) > maxWaiting) {
      request.socket.destroy()
    } else {
      onWait(request, response)
      response.once("socket", (socket: Socket) => {
        count(socket, -1)
        if (!socket.destroyed) {
          handler(request, response)
        }
      })
    }
  }
}

export interface Refusal {
  readonly status: number
  readonly message: string
}

export interface RefusalAnswer {
  /** Added to the headers of every answer. */
  readonly headers: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body: unknown
}

/**
 * Makes a server answer, in its own form, requests that Node cannot parse, methods that Node does not know, and
 * `CONNECT`, whose target is not a path. Complete requests before them are answered first, except before a `CONNECT`:
 * Node detaches its socket.
 */
export const handleClientErrors = (server: Server, answer: (refusal: Refusal) => RefusalAnswer): Server => {
  const responses = new WeakMap<Duplex, ReadonlyArray<ServerResponse>>()
  const unfinished = (socket: Duplex) => (responses.get(socket) ?? []).filter(({ closed }) => !closed)

  const refuse = (socket: Duplex, refusal: Refusal) => {
    const unanswered = unfinished(socket)
    const isAnswering = unanswered.some(({ finished, headersSent }) => headersSent && !finished)
    const inFront = unanswered.findLast(({ req }) => req.complete)
    if (!socket.writable || isAnswering) {
      // The refusal must not be written into a response that has begun, for example an open event stream.
      socket.destroy()
    } else if (inFront !== undefined) {
      inFront.once("close", () => refuse(socket, refusal))
    } else {
      socket.end(formatAnswer(refusal.status, answer(refusal)), () => socket.destroy())
      // Node does not end a detached socket with the server.
      cutSoon(socket)
    }
  }

  return server
    .on("connection", (socket) => {
      // Node reports no error if a request that asks for another protocol ends before its body.
      socket.once("end", () => {
        const isCut = unfinished(socket).some(({ req }) => !req.complete && req.headers.upgrade !== undefined)
        if (isCut && socket.writable) {
          refuse(socket, invalidHttp)
        }
      })
    })
    .on("request", ({ socket }, response) => {
      responses.set(socket, [...unfinished(socket), response])
    })
    .on("clientError", (error: ClientError, socket) => {
      if (error.code === "ECONNRESET") {
        socket.destroy()
      } else {
        refuse(socket, refusalOf(error, unfinished(socket)))
      }
    })
    .on("connect", (_request, socket) => {
      // Node has detached the socket: without this listener, an error would end the process.
      socket.on("error", () => socket.destroy())
      if (unfinished(socket).length > 0) {
        socket.destroy()
      } else {
        refuse(socket, { status: 400, message: unreadableTarget })
      }
    })
}

/** Node's error for a request that it cannot parse. */
interface ClientError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer
  /** The position of the error in the packet. */
  readonly bytesParsed?: number
}

const formatAnswer = (status: number, answer: RefusalAnswer): string => {
  const body = JSON.stringify(answer.body)
  const headers = {
    ...answer.headers,
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
    Connection: "close"
  }
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${fields.join("")}\r\n${body}`
}

const refusalOf = (error: ClientError, unanswered: ReadonlyArray<ServerResponse>): Refusal => {
  switch (error.code) {
    case "HPE_HEADER_OVERFLOW":
      return { status: 431, message: "The request headers are too large." }
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return unanswered.some(({ req }) => !req.complete)
        ? { status: 400, message: "The body took too long to arrive." }
        : { status: 408, message: "The request took too long to arrive." }
    default: {
      const [, method, target = ""] = requestLine.exec(malformedPart(error)) ?? []
      return error.code === "HPE_INVALID_METHOD" && method !== undefined
        ? Option.match(pathOf(target), {
            onNone: () => ({ status: 400, message: unreadableTarget }),
            onSome: (path) => ({ status: 404, message: `Not found: ${method} ${path}` })
          })
        : invalidHttp
    }
  }
}

const invalidHttp: Refusal = { status: 400, message: "The request is not valid HTTP." }

/** Matches a method, which is any token, and a target. */
const requestLine = /^([!#$%&'*+.^_`|~\w-]+) (\S+) HTTP\/1\.[01]\r\n/

/** The packet from the beginning of the line with the error. */
const malformedPart = ({ bytesParsed = 0, rawPacket = Buffer.alloc(0) }: ClientError): string => {
  const text = rawPacket.toString("latin1")
  return text.slice(text.lastIndexOf("\n", bytesParsed - 1) + 1)
}
