/**
 * The body of a request, up to a limit (specification, section 8).
 */
import type { IncomingMessage } from "node:http"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/** The largest body that is accepted, in bytes. */
export const maxBytes = 65_536

/** How long a client may go on sending after it was told that its body is too large. */
const lingerMs = 1000

export class BodyTooLarge extends Schema.TaggedError<BodyTooLarge>()("BodyTooLarge", {}) {
  override get message() {
    return `The body exceeds ${maxBytes} bytes.`
  }
}

export class BodyUnreadable extends Schema.TaggedError<BodyUnreadable>()("BodyUnreadable", {}) {
  override get message() {
    return "The body could not be read to its end."
  }
}

/**
 * Reads the whole body.
 *
 * One that is too large is refused as soon as that is known. What the client still sends is thrown away for
 * a moment, so that the refusal reaches it before the connection is closed.
 */
export const read = (request: IncomingMessage): Effect.Effect<Buffer, BodyTooLarge | BodyUnreadable> =>
  Effect.async((resume) => {
    const chunks: Array<Buffer> = []
    let size = 0

    const refuse = () => {
      stop()
      request.resume()
      const timer = setTimeout(() => request.destroy(), lingerMs)
      request.once("close", () => clearTimeout(timer))
      resume(Effect.fail(new BodyTooLarge()))
    }
    const onData = (chunk: Buffer) => {
      size += chunk.length
      if (size > maxBytes) {
        refuse()
      } else {
        chunks.push(chunk)
      }
    }
    const onEnd = () => {
      stop()
      resume(Effect.succeed(Buffer.concat(chunks)))
    }
    const onClose = () => resume(Effect.fail(new BodyUnreadable()))
    const stop = () => {
      request.off("data", onData)
      request.off("end", onEnd)
      request.off("close", onClose)
    }

    if (Number(request.headers["content-length"]) > maxBytes) {
      refuse()
    } else {
      request.on("data", onData)
      request.once("end", onEnd)
      request.once("close", onClose)
    }
    return Effect.sync(stop)
  })
