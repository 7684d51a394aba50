/**
 * The body of a request, up to a limit (specification, section 8).
 */
import type { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"

/** The largest body that is accepted, in bytes. */
export const maxBytes = 65_536

export class BodyTooLarge extends Schema.TaggedError<BodyTooLarge>()("vitrine/BodyTooLarge", {}) {
  override get message() {
    return `The body exceeds ${maxBytes} bytes.`
  }
}

export class BodyUnreadable extends Schema.TaggedError<BodyUnreadable>()("vitrine/BodyUnreadable", {}) {
  override get message() {
    return "The body could not be read to its end."
  }
}

/** Reads the whole body; what follows the limit is left to the server. */
export const read = (request: HttpServerRequest): Effect.Effect<Uint8Array, BodyTooLarge | BodyUnreadable> =>
  isTooLong(request)
    ? new BodyTooLarge()
    : request.stream.pipe(
        Stream.mapError(() => new BodyUnreadable()),
        Stream.mapAccumEffect(0, (before, chunk) => {
          const size = before + chunk.length
          return size > maxBytes ? new BodyTooLarge() : Effect.succeed([size, chunk] as const)
        }),
        Stream.runCollect,
        Effect.map((chunks) => Buffer.concat(Chunk.toReadonlyArray(chunks)))
      )

/** Whether the head of the request says so. */
export const isTooLong = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) =>
  Number(headers["content-length"]) > maxBytes
