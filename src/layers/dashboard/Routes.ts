/**
 * The routes of the dashboard.
 */

import { readdirSync, readFileSync } from "node:fs"
import { extname, join } from "node:path"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import { packageFile } from "../../internal/packageFile.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import { ScreenPictures } from "../../services/ScreenPictures.ts"
import type { View } from "../../services/View.ts"
import { json, notFound, result, text } from "../http/Application.ts"
import * as EventStreamResponse from "../http/EventStreamResponse.ts"
import { NotFound, noPicture } from "../http/errors.ts"
import { readQuestion } from "../http/pictureBody.ts"
import * as RequestBody from "../http/RequestBody.ts"
import { isHealthy, toneOf } from "../status/rows.ts"
import { type Access, isLoopback } from "./Access.ts"
import type { Act } from "./Actions.ts"
import type { Live } from "./Live.ts"
import { contentType, isOfInterest, problemMetrics, prometheusText } from "./metrics.ts"

export interface Context {
  readonly access: Access
  readonly act: Act
  readonly live: Live
}

/** The headers of every response: no other page may frame it, read it or add scripts. */
export const everyResponse = {
  "Cache-Control": "no-store",
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data: blob:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff"
}

export const make = Effect.fnUntraced(function* ({ access, act, live }: Context) {
  const { read, state, status } = yield* ControllerState
  const files = yield* Effect.sync(readPageFiles)

  const pictures = yield* ScreenPictures

  /** The body of a request that may act. */
  const readAction = (request: HttpServerRequest.HttpServerRequest) =>
    Option.match(access.refuseAction(request), {
      onNone: () => RequestBody.read,
      onSome: (refusal) => Effect.fail(refusal)
    })

  const command = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    const done = yield* act(yield* readAction(request), remoteOf(request))
    yield* live.changed
    return result(done)
  })

  const picture = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    const { last = false, screen } = yield* readQuestion(yield* readAction(request))
    const { jpeg, takenAt } = last
      ? yield* Effect.catchAll(Effect.flatten(pictures.last(screen)), () => noLast)
      : yield* Effect.mapError(pictures.ask(screen), noPicture)
    if (!last) {
      yield* live.changed
    }
    return HttpServerResponse.uint8Array(jpeg, {
      contentType: "image/jpeg",
      headers: { "Vitrine-Taken-At": takenAt }
    })
  })

  const events = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    if (request.method === "HEAD") {
      return yield* notFound(request)
    }
    return yield* EventStreamResponse.open(request, live, everyResponse)
  })

  return [
    HttpLayerRouter.route("POST", "/command", command),
    HttpLayerRouter.route("POST", "/picture", picture),
    HttpLayerRouter.route("GET", "/events", events, { uninterruptible: true }),
    ...files.map(({ content, path, type }) =>
      HttpLayerRouter.route("GET", path, HttpServerResponse.uint8Array(content, { contentType: type }))
    ),
    HttpLayerRouter.route(
      "GET",
      "/healthz",
      Effect.map(read, ({ view }) => healthResponse(view))
    ),
    HttpLayerRouter.route(
      "GET",
      "/metrics",
      Effect.zipWith(Metric.snapshot, read, (pairs, { metrics, view }) =>
        text(
          prometheusText([...pairs.filter(isOfInterest), ...problemMetrics(view.problems), ...metrics()]),
          contentType
        )
      )
    ),
    HttpLayerRouter.route("GET", "/state", Effect.map(state, json)),
    HttpLayerRouter.route("GET", "/status", Effect.map(status, json))
  ]
})

const noLast = new NotFound({ message: "There is no picture of this screen from the last hour." })

const healthResponse = ({ problems, word }: View) => {
  const findings = problems.map((problem) => ({
    code: problem.code,
    tone: toneOf(problem),
    text: problem.text
  }))
  return text(
    `${JSON.stringify({ status: isHealthy(word) ? "ok" : "failing", word, findings }, null, 2)}\n`,
    "application/json",
    isHealthy(word) ? 200 : 503
  )
}

/** The network address of the client; `undefined` on this machine. */
const remoteOf = ({ remoteAddress }: HttpServerRequest.HttpServerRequest): string | undefined =>
  remoteAddress.pipe(
    Option.map((address) => address.replace(/^::ffff:/, "")),
    Option.filter((address) => !isLoopback(address)),
    Option.getOrUndefined
  )

const types: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".woff2": "font/woff2"
}

/** A file of the page, and the path at which it is served. */
export interface PageFile {
  readonly path: `/${string}`
  readonly type: string
  readonly content: Uint8Array
}

const readPageFiles = (): ReadonlyArray<PageFile> => {
  const folder = packageFile("src/layers/dashboard/page")
  return readdirSync(folder).flatMap((name) => {
    const type = types[extname(name)]
    return type === undefined
      ? []
      : [
          {
            path: name === "index.html" ? "/" : `/${name}`,
            type,
            content: readFileSync(join(folder, name))
          }
        ]
  })
}
