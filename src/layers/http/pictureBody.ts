/**
 * The answer of a watcher to a picture that is wanted: `PUT /vitrine/pictures/…` with the picture, or with the reason in words
 * (docs/wire.md, "Pictures of screens").
 */
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import { printableLine } from "../../internal/printable.ts"
import type { ScreenPicturesService } from "../../services/ScreenPictures.ts"
import { pathOf } from "./Application.ts"
import { BadRequest, PictureNotWanted } from "./errors.ts"
import * as RequestBody from "./RequestBody.ts"

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
