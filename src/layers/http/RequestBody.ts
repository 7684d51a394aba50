/**
 * The body of a request, up to a limit (docs/wire.md, section 8).
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { constVoid } from "effect/Function"
import * as Stream from "effect/Stream"
import { BadRequest, type BodyTooLarge, bodyTooLarge } from "./errors.ts"
import { responseTo } from "./RequestHandler.ts"
import { cutSoon } from "./stallTimeout.ts"

/** The largest accepted body, in bytes, unless its route allows more. */
export const maxBodyBytes = 65_536

type BodyError = BodyTooLarge | BadRequest

/**
 * Reads the whole body of a request to our own server. Fails at once if the body is larger than `limit`, in bytes, or than
 * `maxBodyBytes` if the request waited behind another one on its connection.
 *
 * After a refusal the rest of the body is discarded for up to a second, so that the client gets the response before the
 * connection is closed.
 */
export const readUpTo = (limit: number) =>
  Effect.flatMap(HttpServerRequest.HttpServerRequest, (to) => {
    const response = responseTo(to)
    const request = response.req
    if (expectsContinue(request) && !isTooLong(request, limit)) {
      response.writeContinue()
    }
    return Effect.tapErrorTag(begun.get(request) ?? collect(request, limit), "vitrine/BodyTooLarge", () =>
      Effect.sync(() => linger(response))
    )
  })

export const read = readUpTo(maxBodyBytes)

/** As `read`, on any server. That server decides about the rest of a body above the limit. */
export const readMounted = Effect.flatMap(
  HttpServerRequest.HttpServerRequest,
  (request): Effect.Effect<Uint8Array, BodyError> =>
    isTooLong(request, maxBodyBytes)
      ? bodyTooLarge(maxBodyBytes)
      : request.stream.pipe(
          Stream.mapError(() => unreadable),
          Stream.mapAccumEffect(0, (before, chunk) => {
            const size = before + chunk.length
            return size > maxBodyBytes ? bodyTooLarge(maxBodyBytes) : Effect.succeed([size, chunk] as const)
          }),
          Stream.runCollect,
          Effect.map((chunks) => Buffer.concat(Chunk.toReadonlyArray(chunks)))
        )
)

/** Keyed by the request of Node: the server and the routes share no other object. An entry is freed with its request. */
const begun = new WeakMap<IncomingMessage, Effect.Effect<Uint8Array, BodyError>>()

/** Reads a body before its route asks for it. With an unread body the server would not see later events of the connection. */
export const begin = (request: IncomingMessage, response: ServerResponse): void => {
  const { socket } = request
  let kept = 0
  let isWaiting = true
  const add = (bytes: number) => {
    const waiting = (waitingOn.get(socket) ?? 0) + bytes
    waitingOn.set(socket, waiting)
    if (waiting > maxWaitingBytes) {
      socket.destroy()
    }
  }
  response.once("socket", () => {
    isWaiting = false
    add(-kept)
  })
  const body = collect(request, maxBodyBytes, (bytes) => {
    if (isWaiting) {
      kept += bytes
      add(bytes)
    }
  })
  begun.set(
    request,
    Fiber.join(Effect.runFork(Effect.tapError(body, () => Effect.sync(() => request.resume()))))
  )
}

/** Bytes of bodies that wait on each connection. */
const waitingOn = new WeakMap<Socket, number>()

/** The limit of `waitingOn`. A client that sends more is disconnected: nobody has checked yet whether it may send requests. */
const maxWaitingBytes = 2 * maxBodyBytes

const unreadable = new BadRequest({ message: "The body could not be read to its end." })

/** Uses listeners: as a Stream, reading the body is a third of the cost of a report to a hub. Discards data after the limit. */
const collect = (
  request: IncomingMessage,
  limit: number,
  onKept: (bytes: number) => void = constVoid
): Effect.Effect<Uint8Array, BodyError> =>
  isTooLong(request, limit)
    ? bodyTooLarge(limit)
    : request.closed
      ? unreadable
      : Effect.async((resume) => {
          const chunks: Array<Uint8Array> = []
          let size = 0
          request.on("data", (chunk: Buffer) => {
            size += chunk.length
            if (size > limit) {
              resume(bodyTooLarge(limit))
            } else {
              chunks.push(chunk)
              onKept(chunk.length)
            }
          })
          request.once("end", () => resume(Effect.succeed(Buffer.concat(chunks))))
          request.once("close", () => resume(unreadable))
        })

/** Closes the connection of a client that continues to send after the response that its body is too large. */
const linger = (response: ServerResponse) => {
  response.req.resume()
  response.once("finish", () => cutSoon(response.req))
}

/** Whether the `Content-Length` exceeds the limit. */
const isTooLong = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }, limit: number) =>
  Number(headers["content-length"]) > limit

const expectsContinue = ({ headers, httpVersion }: IncomingMessage) =>
  httpVersion === "1.1" && headers.expect?.toLowerCase() === "100-continue"
