/**
 * A file as a response, or a part of it: conditions and ranges are the library's.
 */
import type { ServerResponse } from "node:http"
import * as Effect from "effect/Effect"
import { closedUnlessStalled } from "../../http/stallTimeout.ts"
import { NotFound, PreconditionFailed, RangeNotSatisfiable, Unreadable } from "../errors.ts"
import type { FileResource } from "../resources.ts"
import { everyResponse } from "./writeResponse.ts"

/** Loaded where a server is made: the library's tables of media types would take time at the start of every command. */
export const makeSendFile = Effect.map(
  Effect.promise(() => import("send")),
  ({ default: send }) =>
    /** Done when the response has ended. What the client does not read waits on disk. */
    (response: ServerResponse, { file, headers, size }: FileResource) =>
      Effect.suspend(() => {
        const request = response.req
        if (request.method === "HEAD" || isLongerSuffix(request.headers.range, size)) {
          delete request.headers.range
        }
        for (const [name, value] of Object.entries({ ...everyResponse, ...headers })) {
          response.setHeader(name, value)
        }
        const failed = Effect.async<never, SendError>((resume) => {
          send(request, encodeURIComponent(file), { cacheControl: false, dotfiles: "allow", index: false })
            .on("error", (error) => resume(Effect.fail(errorOf(error))))
            .on("directory", () => resume(Effect.fail(gone)))
            .pipe(response)
        })
        return Effect.raceFirst(failed, closedUnlessStalled(response))
      })
)

type SendError = NotFound | PreconditionFailed | RangeNotSatisfiable | Unreadable

/** The library takes a suffix that is longer than the file for one that cannot be satisfied: it means the whole file. */
const isLongerSuffix = (range: string | undefined, size: number): boolean => {
  const [, length] = /^bytes=-(\d+)$/.exec(range ?? "") ?? []
  return length !== undefined && size > 0 && Number(length) > size
}

const errorOf = (error: { readonly status?: number }): SendError => {
  switch (error.status) {
    case 404:
      return gone
    case 412:
      return new PreconditionFailed()
    case 416:
      return new RangeNotSatisfiable()
    default:
      return new Unreadable({ cause: error })
  }
}

const gone = new NotFound({ detail: "The file was removed a moment ago. Read the manifest again." })
