/**
 * The content server on Node: every request gets a response, or its connection is closed.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Option from "effect/Option"
import { messageOf } from "../../../internal/SerializedError.ts"
import { makeWarnOnce } from "../../../internal/warnOnce.ts"
import type { ConnectionLimit } from "../../http/connectionLimit.ts"
import { hasOneHost, refuseHost } from "../../http/hosts.ts"
import * as RequestTarget from "../../http/RequestTarget.ts"
import type { ContentServerOptions } from "../ContentServerOptions.ts"
import { BadRequest, MethodNotAllowed, type RequestError, TooManyConnections, Unreadable } from "../errors.ts"
import type { Reading } from "../reading.ts"
import type { Resource, Resources } from "../resources.ts"
import type { Recorder } from "../statistics.ts"
import { makeSendFile } from "./sendFile.ts"
import { writeError, writePreflight, writeRedirect, writeText } from "./writeResponse.ts"

export interface Context {
  readonly connections: ConnectionLimit
  readonly options: Pick<ContentServerOptions, "allowedHosts" | "maxConnections">
  readonly reading: Reading
  readonly recorder: Recorder
  readonly resources: Resources
}

/** What is still being answered when the scope ends is interrupted. */
export const make = Effect.fnUntraced(function* ({
  connections,
  options,
  reading,
  recorder,
  resources
}: Context) {
  const run = yield* FiberSet.makeRuntime()
  const sendFile = yield* makeSendFile
  const warnOnce = makeWarnOnce((problem) => `Content cannot be served: ${problem}`)

  /** Why a request is refused, whatever it asks for. */
  const refuse = (request: IncomingMessage): Option.Option<RequestError> => {
    if (connections.exceededBy(request.socket)) {
      return Option.some(new TooManyConnections({ limit: options.maxConnections }))
    }
    if (!RequestTarget.isReadable(request.url ?? "")) {
      return Option.some(unreadableTarget)
    }
    return refuseHost(options.allowedHosts, request.headers.host, "the content server")
  }

  const find = Effect.fnUntraced(function* (request: IncomingMessage) {
    if (!hasOneHost(request)) {
      return yield* new BadRequest({ detail: "A request must have one Host header." })
    }
    const path = yield* Effect.mapError(RequestTarget.path(request.url ?? ""), () => unreadableTarget)
    const { method = "" } = request
    if (method !== "GET" && method !== "HEAD") {
      return yield* new MethodNotAllowed({ method })
    }
    return yield* resources.find(path)
  })

  const write = (response: ServerResponse, resource: Resource) => {
    switch (resource._tag) {
      case "Text":
        return writeText(response, resource)
      case "Redirect":
        return writeRedirect(response, resource.location)
      case "File": {
        const sending = Option.match(
          Option.filter(resource.gzip, () => wantsGzip(response.req)),
          {
            onNone: () => sendFile(response, resource),
            onSome: Effect.flatMap((compressed) => writeText(response, compressed))
          }
        )
        return Option.match(resource.versionId, {
          onNone: () => sending,
          onSome: (versionId) => reading.of(versionId)(sending)
        })
      }
    }
  }

  const answer = Effect.fnUntraced(function* (request: IncomingMessage, response: ServerResponse) {
    const refusal = refuse(request)
    if (Option.isSome(refusal)) {
      return yield* refusal.value
    }
    if (request.method === "OPTIONS") {
      return yield* writePreflight(response)
    }
    return yield* write(response, yield* find(request))
  })

  const respond = (request: IncomingMessage, response: ServerResponse) =>
    answer(request, response).pipe(
      Effect.catchTags({
        BadArgument: (error) => Effect.fail(new Unreadable({ cause: error })),
        SystemError: (error) => Effect.fail(new Unreadable({ cause: error }))
      }),
      Effect.tapErrorTag("vitrine/ContentUnreadable", ({ cause }) => warnOnce(messageOf(cause))),
      Effect.catchAll((error) => (response.headersSent ? cut(response) : writeError(response, error))),
      Effect.catchAllCause((cause) =>
        Cause.isInterruptedOnly(cause)
          ? Effect.void
          : Effect.zipRight(Effect.logError("A request failed unexpectedly", cause), cut(response))
      )
    )

  const listener: RequestListener = (request, response) => {
    const ended = recorder.begin()
    const { socket } = request
    const before = socket.bytesWritten
    response.once("close", () => ended(socket.bytesWritten - before))
    run(respond(request, response))
  }
  return listener
})

/** Parts are of the file as it is, and so are conditions other than `If-None-Match`. */
const wantsGzip = ({ headers }: IncomingMessage): boolean =>
  /(^|,)\s*gzip\s*(;\s*q=(1|0\.0*[1-9])|,|$)/i.test(String(headers["accept-encoding"] ?? "")) &&
  uncompressed.every((name) => headers[name] === undefined)

const uncompressed = ["range", "if-match", "if-unmodified-since"]

/** Too late for another answer: the client sees that this one is not whole. */
const cut = (response: ServerResponse) =>
  Effect.sync(() => {
    response.destroy()
  })

const unreadableTarget = new BadRequest({ detail: "The request target cannot be read." })
