/**
 * The routes for the watchers of browsers, which take pictures of their screens (docs/wire.md, "Pictures of screens").
 */
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import { isPlainFileName } from "../../files/fileName.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import { ScreenPictures } from "../../services/ScreenPictures.ts"
import { BadRequest, tokenRequired } from "../http/errors.ts"
import { take } from "../http/pictureBody.ts"
import { tokenCheck } from "../http/RequestHead.ts"

/** Pictures are on until the scope ends, or `close` runs; both end the waiting of watchers. */
export const make = Effect.fnUntraced(function* (token: Redacted.Redacted) {
  const pictures = yield* ScreenPictures
  const { screens = [] } = (yield* (yield* ControllerState).state).system
  const forbidden = screens.filter(({ picture }) => picture === false).map(({ id }) => id)
  const close = yield* Effect.acquireRelease(pictures.open(forbidden), (close) => close)
  const hasToken = tokenCheck(token)

  const wanted = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    if (!hasToken(request)) return yield* noToken
    const screen = yield* askedScreen(request.originalUrl)
    return Option.match(yield* pictures.wanted(screen), {
      onNone: () => HttpServerResponse.empty({ status: 204 }),
      onSome: ({ number }) =>
        HttpServerResponse.empty({ status: 200, headers: { "Vitrine-Picture": number } })
    })
  })

  const picture = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    return hasToken(request) ? yield* take(pictures) : yield* noToken
  })

  return {
    routes: [
      HttpLayerRouter.route("GET", "/vitrine/pictures/wanted", wanted),
      HttpLayerRouter.route("PUT", "/vitrine/pictures/:screen", picture)
    ],
    close
  }
})

/** The screen in the query of a watcher. */
const askedScreen = (url: string): Effect.Effect<string, BadRequest> => {
  const id = new URL(url, "http://localhost").searchParams.get("screen") ?? ""
  return isPlainFileName(id)
    ? Effect.succeed(id)
    : new BadRequest({ message: 'Name the screen, as in "?screen=left".' })
}

const noToken = tokenRequired(
  'Token required: send "Authorization: Bearer TOKEN" with the "token" of the "pictures" of the content server.'
)
