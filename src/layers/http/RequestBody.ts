/**
 * The body of a request, up to a limit (specification, section 8).
 */
import type { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import * as Chunk from "effect/Chunk"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { BodyTooLarge, BodyUnreadable, maxBodyBytes } from "./errors.ts"

/** Reads the whole body; what follows the limit is left to the server. */
export const read = (request: HttpServerRequest): Effect.Effect<Uint8Array, BodyTooLarge | BodyUnreadable> =>
  isTooLong(request)
    ? new BodyTooLarge()
    : request.stream.pipe(
        Stream.mapError(() => new BodyUnreadable()),
        Stream.mapAccumEffect(0, (before, chunk) => {
          const size = before + chunk.length
          return size > maxBodyBytes ? new BodyTooLarge() : Effect.succeed([size, chunk] as const)
        }),
        Stream.runCollect,
        Effect.map((chunks) => Buffer.concat(Chunk.toReadonlyArray(chunks)))
      )

/** Whether the head of the request says so. */
export const isTooLong = ({ headers }: { readonly headers: Readonly<Record<string, unknown>> }) =>
  Number(headers["content-length"]) > maxBodyBytes
