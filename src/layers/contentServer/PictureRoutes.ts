/**
 * The routes for the watchers of browsers, which take pictures of their screens (docs/wire.md, "Pictures of screens").
 */
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import { isPlainFileName } from "../../files/fileName.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import { ScreenPictures } from "../../services/ScreenPictures.ts"
import { tokenCheck } from "../http/Access.ts"
import { BadRequest, tokenRequired } from "../http/errors.ts"
import { take } from "../http/pictureBody.ts"

/** Pictures are on until the scope ends, or `close` runs; both end the waiting of watchers. */
export const make = Effect.fnUntraced(function* (token: Redacted.Redacted) {
  const pictures = yield* ScreenPictures
  const { screens = [] } = (yield* (yield* ControllerState).state).system
  const forbidden = screens.filter(({ picture }) => picture === false).map(({ id }) => id)
  const close = yield* Effect.acquireRelease(pictures.open(forbidden), (close) => close)
  const hasToken = tokenCheck(token)

  const withToken = <E, R>(
    handler: (
      request: HttpServerRequest.HttpServerRequest
    ) => Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
  ) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      Effect.if(hasToken(request), { onTrue: () => handler(request), onFalse: () => noToken })
    )

  const wanted = ({ originalUrl }: HttpServerRequest.HttpServerRequest) =>
    Effect.map(
      Effect.flatMap(askedScreen(originalUrl), pictures.wanted),
      Option.match({
        onNone: () => HttpServerResponse.empty({ status: 204 }),
        onSome: ({ number }) =>
          HttpServerResponse.empty({ status: 200, headers: { "Vitrine-Picture": number } })
      })
    )

  return {
    routes: [
      HttpLayerRouter.route("GET", "/vitrine/pictures/wanted", withToken(wanted)),
      HttpLayerRouter.route(
        "PUT",
        "/vitrine/pictures/:screen",
        withToken(() => take(pictures))
      )
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
