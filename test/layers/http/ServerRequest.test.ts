import { IncomingMessage, ServerResponse } from "node:http"
import { Socket } from "node:net"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { responseTo, ServerRequest } from "../../../src/layers/http/RequestHandler.ts"

const made = Effect.sync(() => {
  const source = new IncomingMessage(new Socket())
  Object.assign(source, { method: "POST", url: "/a?b=c", headers: { cookie: "d=e" } })
  return new ServerRequest(source, new ServerResponse(source))
})

describe("a request to a server of ours", () => {
  it.effect("has the fields that the routes of the platform read", () =>
    Effect.gen(function* () {
      const request = yield* made
      expect(request).toMatchObject({ method: "POST", url: "/a?b=c", cookies: { d: "e" } })
      const changed = request.modify({ url: "/f", remoteAddress: "10.0.0.1" })
      expect(changed).toMatchObject({
        url: "/f",
        originalUrl: "/a?b=c",
        remoteAddress: Option.some("10.0.0.1")
      })
      expect(responseTo(changed)).toBe(request.response)
      expect(JSON.stringify(changed)).toContain('"url":"/a?b=c"')
    })
  )

  it.effect(
    "fails with an error of the request if a route reads its body in a way that is not supported",
    () =>
      Effect.gen(function* () {
        const request = yield* made
        const provided = Effect.provideService(HttpServerRequest.HttpServerRequest, request)
        const asked: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
          request.text,
          request.arrayBuffer,
          request.urlParamsBody,
          request.upgrade,
          Stream.runDrain(request.stream),
          HttpServerRequest.schemaBodyJson(Schema.Unknown).pipe(provided)
        ]
        for (const member of asked) {
          expect(yield* Effect.flip(member)).toMatchObject({ _tag: "RequestError", reason: "Decode" })
        }
        expect(yield* Effect.flip(Stream.runDrain(request.multipartStream))).toMatchObject({
          _tag: "MultipartError",
          cause: { _tag: "RequestError" }
        })
      })
  )
})
