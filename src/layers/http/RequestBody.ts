/**
 * The body of a request, up to a limit (docs/wire.md, section 8).
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import * as Stream from "effect/Stream"
import { BadRequest, type BodyTooLarge, bodyTooLarge, maxBodyBytes } from "./errors.ts"

type BodyError = BodyTooLarge | BadRequest

const unreadable = new BadRequest({ message: "The body could not be read to its end." })

/**
 * Reads the whole body of a request to a server of our own.
 *
 * One that is too large is refused as soon as that is known. What the client still sends is thrown away for
 * a moment, so that the refusal reaches it before the connection is closed.
 */
export const read = Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) => {
  const response = NodeHttpServerRequest.toServerResponse(request)
  return Effect.tapErrorTag(readNode(response), "vitrine/BodyTooLarge", () =>
    Effect.sync(() => linger(response))
  )
})

/** The same of any server: what follows the limit is left to it. */
export const readMounted = Effect.flatMap(
  HttpServerRequest.HttpServerRequest,
  (request): Effect.Effect<Uint8Array, BodyError> =>
    isTooLong(request)
      ? bodyTooLarge()
      : request.stream.pipe(
          Stream.mapError(() => unreadable),
          Stream.mapAccumEffect(0, (before, chunk) => {
            const size = before + chunk.length
            return size > maxBodyBytes ? bodyTooLarge() : Effect.succeed([size, chunk] as const)
          }),
          Stream.runCollect,
          Effect.map((chunks) => Buffer.concat(Chunk.toReadonlyArray(chunks)))
        )
)

const begun = new WeakMap<IncomingMessage, Deferred.Deferred<Uint8Array, BodyError>>()

/** Reads a body before somebody asks for it. The server would learn of nothing on the connection behind it. */
export const begin = (request: IncomingMessage): void => {
  const body = Deferred.unsafeMake<Uint8Array, BodyError>(FiberId.none)
  begun.set(request, body)
  collect(request, (outcome) => Deferred.unsafeDone(body, outcome))
}

const readNode = (response: ServerResponse) => {
  const request = response.req
  if (expectsContinue(request) && !isTooLong(request)) {
    response.writeContinue()
  }
  const body = begun.get(request)
  return body === undefined
    ? Effect.async<Uint8Array, BodyError>((resume) => Effect.sync(collect(request, resume)))
    : Deferred.await(body)
}

/** How long a client may go on sending after it was told that its body is too large. */
const lingerMs = 1000

/** Closes the connection of a client that goes on sending when it has been answered. */
const linger = (response: ServerResponse) => {
  response.once("finish", () => {
    const timer = setTimeout(() => response.req.destroy(), lingerMs)
    response.req.once("close", () => clearTimeout(timer))
  })
}

/** Whether the head of the request says so. */
const isTooLong = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) =>
  Number(headers["content-length"]) > maxBodyBytes

const expectsContinue = ({ headers, httpVersion }: IncomingMessage) =>
  httpVersion === "1.1" && headers.expect?.toLowerCase() === "100-continue"

/** Tells the outcome, once; what it returns ends it before. */
const collect = (
  request: IncomingMessage,
  done: (outcome: Effect.Effect<Uint8Array, BodyError>) => void
): (() => void) => {
  const chunks: Array<Buffer> = []
  let size = 0

  const refuse = () => {
    stop()
    request.resume()
    done(bodyTooLarge())
  }
  const onData = (chunk: Buffer) => {
    size += chunk.length
    if (size > maxBodyBytes) {
      refuse()
    } else {
      chunks.push(chunk)
    }
  }
  const onEnd = () => {
    stop()
    done(Effect.succeed(Buffer.concat(chunks)))
  }
  const onClose = () => done(unreadable)
  const stop = () => {
    request.off("data", onData)
    request.off("end", onEnd)
    request.off("close", onClose)
  }

  if (isTooLong(request)) {
    refuse()
  } else {
    request.on("data", onData)
    request.once("end", onEnd)
    request.once("close", onClose)
  }
  return stop
}
