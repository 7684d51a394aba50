/**
 * A file as a response, or a part of it: conditions and ranges are the library's.
 */
import type { Stats } from "node:fs"
import type { ServerResponse } from "node:http"
import type { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Effect from "effect/Effect"
import { NotFound, PreconditionFailed, RangeNotSatisfiable, Unreadable } from "./errors.ts"
import { written } from "./requestHandler.ts"
import { endIfStalled } from "./stallTimeout.ts"

export interface SentFile {
  /** The absolute path. */
  readonly file: string
  readonly stats: Stats
  readonly headers: Readonly<Record<string, string>>
}

/** Loaded where a server is made: the library's tables of media types would take time at the start of every command. */
export const makeSendFile = Effect.map(
  Effect.promise(() => import("send")),
  ({ default: send }) =>
    /** Done when the response has ended. What the client does not read waits on disk. */
    (to: HttpServerRequest, { file, headers, stats }: SentFile) =>
      Effect.suspend(() => {
        const response = NodeHttpServerRequest.toServerResponse(to)
        const request = response.req
        if (request.method === "HEAD" || isLongerSuffix(request.headers.range, stats.size)) {
          delete request.headers.range
        }
        for (const [name, value] of Object.entries(headers)) {
          response.setHeader(name, value)
        }
        const sent = Effect.async<void, SendError>((resume) => {
          response.once("close", () => resume(Effect.void))
          const sending = send(request, file, options)
          sending.on("error", (error) => resume(Effect.fail(errorOf(error, stats.size))))
          // As `pipe` does, which would look at the file once more.
          Object.assign(sending, { res: response })
          sending.send(file, stats)
        })
        return Effect.zipRight(endIfStalled(response), sent).pipe(
          Effect.as(written),
          Effect.tapError(() => Effect.sync(() => removeHeaders(response)))
        )
      })
)

/** Half as many parts as the library reads: what is done for each takes longer than its bytes. */
const options = { cacheControl: false, highWaterMark: 128 * 1024 }

type SendError = NotFound | PreconditionFailed | RangeNotSatisfiable | Unreadable

/** Those of the file, where an error is answered in its place. */
const removeHeaders = (response: ServerResponse) => {
  if (!response.headersSent) {
    for (const name of response.getHeaderNames()) {
      response.removeHeader(name)
    }
  }
}

/** The library takes a suffix that is longer than the file for one that cannot be satisfied: it means the whole file. */
const isLongerSuffix = (range: string | undefined, size: number): boolean => {
  const [, length] = /^bytes=-(\d+)$/.exec(range ?? "") ?? []
  return length !== undefined && size > 0 && Number(length) > size
}

const errorOf = (error: { readonly status?: number }, size: number): SendError => {
  switch (error.status) {
    case 404:
      return gone
    case 412:
      return new PreconditionFailed({
        message: "Precondition failed: the file is not the one that the request asks for."
      })
    case 416:
      return new RangeNotSatisfiable({
        message: 'Range not satisfiable: the file has no such bytes. "Content-Range" says how many it has.',
        headers: { "Content-Range": `bytes */${size}` }
      })
    default:
      return new Unreadable({ cause: error })
  }
}

const gone = new NotFound({ message: "The file was removed a moment ago. Read the manifest again." })
