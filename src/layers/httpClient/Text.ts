/**
 * Texts that are fetched as a whole.
 *
 * It owns retries. What becomes of the text is decided by the caller.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Body from "./Body.ts"
import type { DownloadFailed } from "./DownloadFailed.ts"
import * as Get from "./Get.ts"
import { withRetries } from "./HttpFailure.ts"

export interface Target {
  readonly url: string
  readonly headers?: Get.Headers
  /** What it is called in the log. */
  readonly name: string
  /** The most bytes that it may have. */
  readonly maxBytes: number
}

/** Fetches a text, in gzip where the server can; a try that may succeed later is made again, three times at most. */
export type FetchText = (target: Target) => Effect.Effect<string, DownloadFailed>

/** `maxTimeout` as for `Get`. */
export const make = (maxTimeout: number): Effect.Effect<FetchText, never, HttpClient.HttpClient> =>
  Effect.map(Get.make(maxTimeout), (get) => (target) => fetchText(get, target))

const fetchText = (get: Get.Get, { headers, maxBytes, name, url }: Target) =>
  Effect.suspend(() => {
    let encoding = "gzip"
    // What cannot be decompressed is asked for as it is at the next try.
    const asItIs = Effect.sync(() => {
      encoding = "identity"
    })
    const attempt = Effect.suspend(() =>
      get(url, { ...headers, "accept-encoding": encoding }, (response, pace) =>
        Effect.zipRight(
          Body.accept(response, encoding),
          Effect.tapError(Body.readText(response, pace, maxBytes), () => asItIs)
        )
      )
    )
    return withRetries(attempt)
  }).pipe(Effect.annotateLogs("file", name))
