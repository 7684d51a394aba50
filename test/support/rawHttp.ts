/**
 * HTTP to the byte: what is sent is sent as it stands, and the whole answer is read as it comes.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Received from "./Received.ts"
import { openSocket } from "./socket.ts"

export interface Connection {
  readonly received: Received.Received
  readonly send: (data: string | Uint8Array) => void
  /** Sends nothing more, and goes on reading. */
  readonly finish: () => void
  /** Breaks off without a word. */
  readonly reset: () => void
  /** Reads no more, so that what the server sends piles up. */
  readonly stall: () => void
  /** Reads on. */
  readonly resume: () => void
}

/** A port of this machine, or a Unix socket. */
export type Place = number | { readonly path: string }

/** A connection that is closed with the scope. */
export const connect = (place: Place): Effect.Effect<Connection, Error, Scope.Scope> =>
  openSocket(typeof place === "number" ? { host: "127.0.0.1", port: place } : place).pipe(
    Effect.map(({ received, socket }) => ({
      received,
      send: (data) => void socket.write(data),
      finish: () => void socket.end(),
      reset: () => void socket.resetAndDestroy(),
      stall: () => void socket.pause(),
      resume: () => void socket.resume()
    }))
  )

/** Sends something and reads until the server closes the connection. */
export const exchange = (place: Place, data: string | Uint8Array): Effect.Effect<string, Error> =>
  Effect.scoped(
    Effect.flatMap(connect(place), ({ received, send }) => {
      send(data)
      return received.whole
    })
  )

export interface Request {
  readonly method?: string
  readonly target: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

export interface Answer {
  readonly status: number
  /** By name in small letters. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A whole request, after whose answer the connection is to be closed. */
export const format = ({ body = "", headers = {}, method = "GET", target }: Request): Buffer => {
  const fields = {
    Host: "localhost",
    Connection: "close",
    ...(body === "" ? {} : { "Content-Length": String(Buffer.byteLength(body)) }),
    ...headers
  }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([
    Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join("")}\r\n`),
    Buffer.from(body)
  ])
}

/** The parts of an answer whose body ends with the connection or has a length. */
export const parse = (text: string): Answer => {
  const end = text.indexOf("\r\n\r\n")
  const [statusLine = "", ...fields] = text.slice(0, end).split("\r\n")
  return {
    status: Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]),
    headers: Object.fromEntries(
      fields.map((field) => {
        const colon = field.indexOf(": ")
        return [field.slice(0, colon).toLowerCase(), field.slice(colon + 2)]
      })
    ),
    body: text.slice(end + 4)
  }
}

/** Sends one request on its own connection. */
export const request = (place: Place, request: Request): Effect.Effect<Answer, Error> =>
  Effect.map(exchange(place, format(request)), parse)
