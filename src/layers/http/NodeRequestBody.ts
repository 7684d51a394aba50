/**
 * The body of a request on a Node server of our own, up to a limit.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import { BodyTooLarge, BodyUnreadable, maxBodyBytes } from "./errors.ts"
import { isTooLong } from "./RequestBody.ts"

/** How long a client may go on sending after it was told that its body is too large. */
const lingerMs = 1000

type Body = Effect.Effect<Buffer, BodyTooLarge | BodyUnreadable>

const begun = new WeakMap<IncomingMessage, Deferred.Deferred<Buffer, BodyTooLarge | BodyUnreadable>>()

/** Reads a body before somebody asks for it. The server would learn of nothing on the connection behind it. */
export const begin = (request: IncomingMessage): void => {
  const body = Deferred.unsafeMake<Buffer, BodyTooLarge | BodyUnreadable>(FiberId.none)
  begun.set(request, body)
  collect(request, (outcome) => Deferred.unsafeDone(body, outcome))
}

/**
 * Reads the whole body of the request that the response is to answer.
 *
 * One that is too large is refused as soon as that is known. What the client still sends is thrown away for
 * a moment, so that the refusal reaches it before the connection is closed.
 */
export const read = (response: ServerResponse): Body =>
  Effect.suspend((): Body => {
    const request = response.req
    if (expectsContinue(request) && !isTooLong(request)) {
      response.writeContinue()
    }
    const body = begun.get(request)
    return body === undefined
      ? Effect.async((resume) => Effect.sync(collect(request, resume)))
      : Deferred.await(body)
  }).pipe(Effect.tapErrorTag("vitrine/BodyTooLarge", () => Effect.sync(() => linger(response))))

/** Closes the connection of a client that goes on sending when it has been answered. */
const linger = (response: ServerResponse) => {
  response.once("finish", () => {
    const timer = setTimeout(() => response.req.destroy(), lingerMs)
    response.req.once("close", () => clearTimeout(timer))
  })
}

const expectsContinue = ({ headers, httpVersion }: IncomingMessage) =>
  httpVersion === "1.1" && headers.expect?.toLowerCase() === "100-continue"

/** Tells the outcome, once; what it returns ends it before. */
const collect = (request: IncomingMessage, done: (outcome: Body) => void): (() => void) => {
  const chunks: Array<Buffer> = []
  let size = 0

  const refuse = () => {
    stop()
    request.resume()
    done(Effect.fail(new BodyTooLarge()))
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
  const onClose = () => done(Effect.fail(new BodyUnreadable()))
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
