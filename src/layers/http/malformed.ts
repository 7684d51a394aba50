/**
 * Requests that are not HTTP, or none that a server has an answer to, answered as far as they can be.
 */
import { type Server, type ServerResponse, STATUS_CODES } from "node:http"
import type { Duplex } from "node:stream"

export interface Refusal {
  readonly status: number
  readonly message: string
}

export interface Answer {
  /** Beside those of every answer. */
  readonly headers: Readonly<Record<string, string>>
  /** Sent as JSON. */
  readonly body: unknown
}

/** Makes a server answer, in its own form, what Node could not parse, and `CONNECT`, whose target is no path. */
export const answerMalformed = (server: Server, answer: (refusal: Refusal) => Answer): Server => {
  const unfinished = new WeakMap<Duplex, Set<ServerResponse>>()

  const refuse = (socket: Duplex, refusal: Refusal) => {
    const isAnswering = [...(unfinished.get(socket) ?? [])].some(({ headersSent }) => headersSent)
    if (isAnswering || !socket.writable) {
      // What follows an answer that has begun, an open event stream for example, must not be written into it.
      socket.destroy()
    } else {
      socket.end(formatAnswer(refusal.status, answer(refusal)), () => socket.destroy())
    }
  }

  return server
    .on("request", ({ socket }, response) => {
      const responses = unfinished.get(socket) ?? new Set()
      unfinished.set(socket, responses.add(response))
      response.once("close", () => responses.delete(response))
    })
    .on("clientError", (error: NodeJS.ErrnoException, socket) => {
      if (error.code === "ECONNRESET") {
        socket.destroy()
      } else {
        refuse(socket, refusalOf(error.code))
      }
    })
    .on("connect", (_request, socket) =>
      refuse(socket, { status: 400, message: "The request target cannot be read." })
    )
}

const formatAnswer = (status: number, answer: Answer): string => {
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

const refusalOf = (code: string | undefined): Refusal => {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return { status: 431, message: "The request headers are too large." }
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: 408, message: "The request took too long to arrive." }
    default:
      return { status: 400, message: "The request is not valid HTTP." }
  }
}
