/**
 * The text of a request's body, if it is said to be JSON and within bounds.
 */
import * as Headers from "@effect/platform/Headers"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Stream from "effect/Stream"
import { type ApiError, bodyTooLarge, invalidRequest } from "./ApiError.ts"

export const maxBytes = 262_144

/** Reads to the end in any case, so that a refusal reaches who is still sending; keeps no more than the limit. */
export const readJsonBody = (request: HttpServerRequest.HttpServerRequest): Effect.Effect<string, ApiError> =>
  Effect.gen(function* () {
    const contentType = Option.getOrElse(Headers.get(request.headers, "content-type"), () => "")
    const chunks: Array<Uint8Array> = []
    let size = 0
    yield* Stream.runForEach(request.stream, (chunk) =>
      Effect.sync(() => {
        size += chunk.length
        if (size <= maxBytes) chunks.push(chunk)
      })
    ).pipe(Effect.mapError(() => invalidRequest("The body could not be read to its end.")))
    if (size > maxBytes) {
      return yield* bodyTooLarge(maxBytes)
    }
    if (!/^application\/json *(;|$)/i.test(contentType)) {
      return yield* invalidRequest('The body must have the "Content-Type" application/json.')
    }
    return yield* Effect.try({
      try: () => new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks)),
      catch: () => invalidRequest("The body must be UTF-8 text.")
    })
  })

/** The object that the text of a body is. */
export const parseObject = (text: string): Either.Either<Readonly<Record<string, unknown>>, ApiError> =>
  Either.try((): unknown => JSON.parse(text)).pipe(
    Either.filterOrLeft(Predicate.isReadonlyRecord, () => undefined),
    Either.mapLeft(() => invalidRequest("The body must be a JSON object."))
  )
