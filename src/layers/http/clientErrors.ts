/**
 * Answers to requests that Node cannot parse or does not pass on, as far as an answer is possible.
 */
import { type Server, type ServerResponse, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"
import * as Option from "effect/Option"
import * as RequestTarget from "./RequestTarget.ts"

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
    }
  }

  return server
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
        refuse(socket, { status: 400, message: RequestTarget.unreadable })
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
        ? Option.match(RequestTarget.path(target), {
            onNone: () => ({ status: 400, message: RequestTarget.unreadable }),
            onSome: (path) => ({ status: 404, message: `Not found: ${method} ${path}` })
          })
        : { status: 400, message: "The request is not valid HTTP." }
    }
  }
}

/** Matches a method, which is any token, and a target. */
const requestLine = /^([!#$%&'*+.^_`|~\w-]+) (\S+) HTTP\/1\.[01]\r\n/

/** The packet from the beginning of the line with the error. */
const malformedPart = ({ bytesParsed = 0, rawPacket = Buffer.alloc(0) }: ClientError): string => {
  const text = rawPacket.toString("latin1")
  return text.slice(text.lastIndexOf("\n", bytesParsed - 1) + 1)
}
