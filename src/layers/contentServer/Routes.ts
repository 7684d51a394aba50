/**
 * The routes of the content server. A version stays on disk while clients read it.
 */

import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import { messageOf } from "../../internal/SerializedError.ts"
import { makeWarnOnce } from "../../internal/warnOnce.ts"
import { CommandBus } from "../../services/CommandBus.ts"
import { contentCommands } from "../../services/contentCommands.ts"
import type { VersionId } from "../../services/VersionStore.ts"
import { pathOf, preflightFor } from "../http/Application.ts"
import { NoRoom, Unreadable } from "../http/errors.ts"
import { makeSendFile } from "../http/sendFile.ts"
import { define } from "../memory/definedCommands.ts"
import type { Find } from "./Resources.ts"
import type { FileResource, TextResource } from "./resource.ts"

/** Headers of every response: content is public, and browsers must not guess its type. */
export const everyResponse = {
  "Access-Control-Allow-Origin": "*",
  "Access-Control-Expose-Headers":
    "Accept-Ranges, Content-Length, Content-Range, ETag, Vitrine-Build, Vitrine-Files",
  "X-Content-Type-Options": "nosniff"
}

export const preflight = preflightFor(
  "GET, HEAD, OPTIONS",
  "Cache-Control, If-Match, If-Modified-Since, If-None-Match, If-Range, If-Unmodified-Since, Range"
)

/**
 * `content` is the name of the plugin whose command keeps versions. Requests go on when their clients have left, and on a disk that
 * hangs they do not end: `most` are answered at the same time.
 */
export const make = Effect.fnUntraced(function* (content: string, find: Find, most: number) {
  const { withPermitsIfAvailable } = yield* Effect.makeSemaphore(most)
  const tooMany = new NoRoom({
    message: `Too many requests: all ${most} wait for the disk or for their clients. Does the disk of the downloads folder respond?`,
    headers: { "Retry-After": "10" }
  })
  const whileReading = yield* makeWhileReading(content)
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
      version: /^[^?#]*\?(?:[^#]*&)?version=([^&#]*)/.exec(request.originalUrl)?.[1] ?? ""
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
    HttpLayerRouter.route("GET", "*", (request) =>
      withPermitsIfAvailable(1)(answer(request)).pipe(
        Effect.flatMap(Option.match({ onNone: () => Effect.fail(tooMany), onSome: Effect.succeed })),
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

/** How often `content.keep` is sent for a version that clients read. The command keeps the version for two minutes. */
const interval = "1 minute"

/**
 * Dispatches `content.keep` when a client begins to read a version, and each minute while clients read it. Does not wait for
 * the command, and does nothing if the command is not registered.
 */
const makeWhileReading = Effect.fnUntraced(function* (content: string) {
  const commands = yield* CommandBus
  const { dispatch } = define(contentCommands(content).keep)
  const readers = new Map<VersionId, number>()
  const fibers = yield* FiberMap.make<VersionId>()

  const keep = (versionId: VersionId) =>
    dispatch({ versionId }, { timeout: interval }).pipe(
      Effect.provideService(CommandBus, commands),
      Effect.ignore
    )

  const keepWhileRead = (versionId: VersionId) =>
    Effect.zipRight(
      keep(versionId),
      Effect.when(keep(versionId), () => readers.has(versionId)).pipe(
        Effect.delay(interval),
        Effect.repeat({ while: Option.isSome })
      )
    )

  const begin = (versionId: VersionId) =>
    Effect.suspend(() => {
      readers.set(versionId, (readers.get(versionId) ?? 0) + 1)
      return FiberMap.run(fibers, versionId, keepWhileRead(versionId), { onlyIfMissing: true })
    })

  const end = (versionId: VersionId) =>
    Effect.sync(() => {
      const others = (readers.get(versionId) ?? 1) - 1
      if (others === 0) {
        readers.delete(versionId)
      } else {
        readers.set(versionId, others)
      }
    })

  return (versionId: VersionId) =>
    <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.acquireUseRelease(
        begin(versionId),
        () => effect,
        () => end(versionId)
      )
})
