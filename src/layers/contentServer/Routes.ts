/**
 * The routes of the content server.
 */
import * as HttpRouter from "@effect/platform/HttpLayerRouter"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import { messageOf } from "../../internal/SerializedError.ts"
import { makeWarnOnce } from "../../internal/warnOnce.ts"
import { pathOf } from "../http/Application.ts"
import { Unreadable } from "../http/errors.ts"
import * as Responses from "../http/Responses.ts"
import { makeSendFile } from "../http/sendFile.ts"
import type { WhileReading } from "./KeepWhileRead.ts"
import type { Find } from "./Resources.ts"
import type { FileResource, TextResource } from "./resource.ts"

/** Headers of every response: content is public, and browsers must not guess its type. */
export const everyResponse = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers":
    "Accept-Ranges, Content-Length, Content-Range, ETag, Vitrine-Build, Vitrine-Files",
  "X-Content-Type-Options": "nosniff"
}

export const preflight = Responses.preflight(
  "GET, HEAD, OPTIONS",
  "Cache-Control, If-Match, If-Modified-Since, If-None-Match, If-Range, If-Unmodified-Since, Range"
)

export const make = Effect.fnUntraced(function* (whileReading: WhileReading, find: Find) {
  const sendFile = yield* makeSendFile
  const warnOnce = makeWarnOnce((problem) => `Content cannot be served: ${problem}`)

  const file = (request: HttpServerRequest.HttpServerRequest, resource: FileResource) => {
    const sending = Option.match(
      Option.filter(resource.gzip, () => wantsGzip(request.headers)),
      {
        onNone: () => sendFile(request, { ...resource, headers: { ...everyResponse, ...resource.headers } }),
        onSome: Effect.map((compressed) => text(request.headers, compressed))
      }
    )
    return Option.match(resource.versionId, {
      onNone: () => sending,
      onSome: (versionId) => whileReading(versionId)(sending)
    })
  }

  const answer = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
    const resource = yield* find(pathOf(request), {
      host: request.headers.host,
      version: /\?(?:[^#]*&)?version=([^&#]*)/.exec(request.originalUrl)?.[1] ?? ""
    })
    switch (resource._tag) {
      case "Text":
        return text(request.headers, resource)
      case "Redirect":
        return HttpServerResponse.empty({
          status: 301,
          headers: { Location: resource.location, "Cache-Control": "no-cache" }
        })
      case "File":
        return yield* file(request, resource)
    }
  })

  return [
    HttpRouter.route("GET", "*", (request) =>
      answer(request).pipe(
        Effect.catchTags({
          BadArgument: (error) => Effect.fail(new Unreadable({ cause: error })),
          SystemError: (error) => Effect.fail(new Unreadable({ cause: error }))
        }),
        Effect.tapErrorTag("vitrine/FileUnreadable", ({ cause }) => warnOnce(messageOf(cause)))
      )
    )
  ]
})

type Headers = Readonly<Record<string, string | ReadonlyArray<string> | undefined>>

const text = (asked: Headers, { body, headers }: TextResource): HttpServerResponse.HttpServerResponse =>
  isKnown(asked["if-none-match"], headers.ETag)
    ? HttpServerResponse.empty({ status: 304, headers: Record.filter(headers, isUnchanged) })
    : HttpServerResponse.uint8Array(body, { headers, contentType: headers["Content-Type"] })

/** Whether a 304 has this header of the 200. */
const isUnchanged = (_: unknown, name: string): boolean =>
  ["Cache-Control", "ETag", "Vary", "Vitrine-Build"].includes(name)

/** A weak tag matches the strong tag (RFC 9110, section 13.1.2). */
const isKnown = (ifNoneMatch: Headers[string], etag: string): boolean =>
  String(ifNoneMatch ?? "")
    .split(",")
    .some((tag) => ["*", etag, `W/${etag}`].includes(tag.trim()))

/** Ranges, and conditions other than `If-None-Match`, refer to the uncompressed file. */
const wantsGzip = (headers: Headers): boolean =>
  /(^|,)\s*gzip\s*(;\s*q=(1|0\.0*[1-9])|,|$)/i.test(String(headers["accept-encoding"] ?? "")) &&
  uncompressed.every((name) => headers[name] === undefined)

const uncompressed = ["range", "if-match", "if-unmodified-since"]
