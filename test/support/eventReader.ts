/**
 * Event streams read by a foreign parser as they come, of which nothing is kept: for streams of any length.
 */
import * as http from "node:http"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { createParser } from "eventsource-parser"
import type { Message } from "./eventStream.ts"

export interface EventReader {
  /** Reads no more, so that what the server sends piles up. */
  readonly stall: () => void
  /** Reads on. */
  readonly resume: () => void
  /** Waits until the server has ended the stream and everything was read. */
  readonly closed: Effect.Effect<void>
}

export interface Callbacks {
  readonly onMessage: (message: Message) => void
  readonly onRetry?: (milliseconds: number) => void
}

/** An event stream that ends with the scope; its answer has begun when this Effect returns. */
export const open = (port: number, callbacks: Callbacks): Effect.Effect<EventReader, Error, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => http.get({ host: "127.0.0.1", port, path: "/events", agent: false })),
    (request) => Effect.sync(() => request.destroy())
  ).pipe(
    Effect.flatMap((request) =>
      Effect.async<EventReader, Error>((resume) => {
        // It comes as well where the stream is broken off later.
        request.on("error", (error) => resume(Effect.fail(error)))
        request.once("response", (response) =>
          resume(
            response.statusCode === 200
              ? Effect.succeed(read(response, callbacks))
              : Effect.fail(new Error(`An event stream was answered with ${response.statusCode}`))
          )
        )
      })
    )
  )

const read = (response: http.IncomingMessage, { onMessage, onRetry }: Callbacks): EventReader => {
  const parser = createParser({ onEvent: ({ data, event }) => onMessage({ event, data }), onRetry })
  const closed = new Promise<void>((resolve) => response.once("close", () => resolve()))
  response
    .setEncoding("utf8")
    .on("data", (text: string) => parser.feed(text))
    .on("error", () => {})
  return {
    stall: () => void response.pause(),
    resume: () => void response.resume(),
    closed: Effect.promise(() => closed)
  }
}
