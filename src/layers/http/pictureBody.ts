/**
 * The question for a picture, `POST /picture`, and the answer of a watcher: `PUT /vitrine/pictures/…` with the picture, or with the
 * reason in words (docs/wire.md, "Pictures of screens").
 */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { printableLine } from "../../internal/printable.ts"
import { optional } from "../../internal/schemas.ts"
import type { ScreenPicturesService } from "../../services/ScreenPictures.ts"
import { pathOf } from "./Application.ts"
import { BadRequest, PictureNotWanted } from "./errors.ts"
import * as RequestBody from "./RequestBody.ts"

/** Decodes the body of a question. With `last`, it asks for the last picture of the screen. */
export const readQuestion = (body: Uint8Array) =>
  Effect.mapError(decodeQuestion(Buffer.from(body).toString("utf8")), () => noQuestion)

const decodeQuestion = Schema.decodeUnknown(
  Schema.parseJson(Schema.Struct({ screen: Schema.String, last: optional(Schema.Boolean) }))
)

const noQuestion = new BadRequest({
  message: 'The body must be a JSON object with a string "screen"; "last", if given, must be true or false.'
})

/** The largest picture, in bytes. */
export const maxPictureBytes = 1_048_576

/** The longest reason, in characters. */
const maxReason = 500

/** The request of a watcher, whose token was checked. The path after `/vitrine/pictures/` names the screen. */
export const take = ({ answer }: ScreenPicturesService) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const number = request.headers["vitrine-picture"] ?? ""
    const wanted = { screen: yield* screenOf(pathOf(request)), number }
    const body = yield* read
    yield* Effect.mapError(answer(wanted, body), ({ message }) => new PictureNotWanted({ message }))
    return HttpServerResponse.empty({ status: 204 })
  })

/** Only the first bytes of a picture are checked: nothing is decoded here. */
const read = Effect.gen(function* () {
  const { headers } = yield* HttpServerRequest.HttpServerRequest
  const type = headers["content-type"] ?? ""
  const bytes = yield* RequestBody.readUpTo(maxPictureBytes)
  if (/^image\/jpeg\s*(;|$)/i.test(type) && firstOfJpeg.every((byte, index) => bytes[index] === byte)) {
    return Either.right(bytes)
  }
  const words = /^text\/plain\s*(;|$)/i.test(type)
    ? printableLine(Buffer.from(bytes).toString("utf8"), maxReason)
    : ""
  return words === "" ? yield* neither : Either.left(words)
})

const firstOfJpeg = [0xff, 0xd8, 0xff]

const neither = new BadRequest({
  message: 'The body must be a picture, "image/jpeg", or the reason why there is none, "text/plain".'
})

/** `PLAYER/SCREEN` of a path with both; an id has no "/" of its own. */
const screenOf = (path: string) =>
  Effect.try(() => path.split("/").slice(3).map(decodeURIComponent)).pipe(
    Effect.filterOrFail((ids) => !ids.some((id) => id === "" || id.includes("/"))),
    Effect.mapBoth({
      onFailure: () => new BadRequest({ message: "The path names no screen." }),
      onSuccess: (ids) => ids.join("/")
    })
  )
