/**
 * Sends a file, or a part of it, as a response. The library `send` handles conditions and ranges.
 */
import { close, open, read, type Stats } from "node:fs"
import type { ServerResponse } from "node:http"
import { promisify } from "node:util"
import type { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import { NotFound, PreconditionFailed, RangeNotSatisfiable, Unreadable } from "./errors.ts"
import { responseTo, written } from "./RequestHandler.ts"
import { partBytes, sendParts } from "./sendParts.ts"
import { endIfStalled } from "./stallTimeout.ts"

export interface SentFile {
  /** The absolute path. */
  readonly file: string
  readonly stats: Stats
  readonly headers: Readonly<Record<string, string>>
}

/** Loads the library when a server is made: its tables of media types would slow the start of every command. */
export const makeSendFile = Effect.gen(function* () {
  const { default: send } = yield* Effect.promise(() => import("send"))
  const run = Runtime.runFork(yield* Effect.runtime())

  /** Returns when the response has ended. Data that the client has not read yet stays on disk. */
  return (to: HttpServerRequest, { file, headers, stats }: SentFile) =>
    Effect.suspend(() => {
      const response = responseTo(to)
      const request = response.req
      if (request.method === "HEAD" || isLongerSuffix(request.headers.range, stats.size)) {
        delete request.headers.range
      }
      for (const [name, value] of Object.entries(headers)) {
        response.setHeader(name, value)
      }
      return Effect.async<void, SendError>((resume) => {
        const failed = (error: SystemFailure) => resume(Effect.fail(errorOf(error, stats.size)))
        response.once("close", () => resume(Effect.void))
        // Builds and archives give all their files one date, so a date proves nothing about a file that may change.
        const lastModified = headers["Cache-Control"] !== "no-cache"
        const sending = send(request, file, { cacheControl: false, lastModified })
        sending.on("error", failed)
        Object.assign(sending, {
          // As in `pipe`, which would stat the file again.
          res: response,
          stream: (file: string, range: Range) =>
            stats.size === 0
              ? response.end()
              : sendRange(response, file, range, () => run(endIfStalled(response))).catch(failed)
        })
        sending.send(file, stats)
      }).pipe(
        Effect.as(written),
        Effect.tapError(() => Effect.sync(() => removeHeaders(response)))
      )
    })
})

/** The first and the last byte. */
interface Range {
  readonly start: number
  readonly end: number
}

/** Buffers of finished responses, for the next responses: a new buffer for each part would have to be garbage-collected. */
const idle: Array<Buffer> = []
const maxIdle = 8

const openFile = promisify(open)
const readFile = promisify(read)
const closeFile = promisify(close)

/** Sends bytes of a file. Calls `onWait` when it waits for the first time. */
const sendRange = async (
  response: ServerResponse,
  file: string,
  { end, start }: Range,
  onWait: () => void
) => {
  const descriptor = await openFile(file, "r")
  const memory = idle.pop() ?? Buffer.allocUnsafeSlow(partBytes)
  let isFree = true
  try {
    isFree = await sendParts(response, {
      size: end + 1 - start,
      read: async (position, length) => {
        const { bytesRead } = await readFile(descriptor, memory, 0, length, start + position)
        return memory.subarray(0, bytesRead)
      },
      onWait
    })
  } finally {
    if (isFree && idle.length < maxIdle) idle.push(memory)
    await closeFile(descriptor)
  }
}

type SendError = NotFound | PreconditionFailed | RangeNotSatisfiable | Unreadable

/** Removes the headers of the file before an error is sent instead. */
const removeHeaders = (response: ServerResponse) => {
  if (!response.headersSent) {
    for (const name of response.getHeaderNames()) {
      response.removeHeader(name)
    }
  }
}

/** The library answers 416 for a suffix that is longer than the file, but such a suffix means the whole file. */
const isLongerSuffix = (range: string | undefined, size: number): boolean => {
  const [, length] = /^bytes=-(\d+)$/.exec(range ?? "") ?? []
  return length !== undefined && size > 0 && Number(length) > size
}

/** Errors of the library have a status, errors of the system a code. */
interface SystemFailure {
  readonly status?: number
  readonly code?: string
}

const errorOf = (error: SystemFailure, size: number): SendError => {
  switch (error.status ?? error.code) {
    case "ENOENT":
    case "ENOTDIR":
      return new NotFound({ message: "The file was removed a moment ago. Read the manifest again." })
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
