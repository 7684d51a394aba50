/**
 * The live events of a dataset: `GET …/data/live/events/<dataset>`, Server-Sent Events. Each event causes a poll,
 * which finds the changes; the content of events is not read.
 *
 * It owns when to reconnect.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Record from "effect/Record"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { makeEventReader } from "../../../internal/eventReader.ts"
import { excerpt } from "../../../internal/printable.ts"
import * as Schedules from "../../../internal/Schedules.ts"
import { makeWarnWhile } from "../../../internal/warnOnce.ts"
import type { ContentSource } from "../../../services/ContentSource.ts"
import type { Problem } from "../../../services/Problem.ts"
import * as Requests from "../../httpClient/Requests.ts"
import { hideSecrets } from "../../httpClient/secrets.ts"
import { failureText, headersOf, originOf } from "./api.ts"
import type { SanityOptions } from "./SanityOptions.ts"

/** A connection failed or ended. */
class NotHeard extends Schema.TaggedError<NotHeard>()("vitrine/NotHeard", {
  detail: Schema.String,
  /** How long to wait before the pause of the schedule. */
  pause: Schema.DurationFromSelf
}) {
  override get message() {
    return this.detail
  }
}

const notHeard = (detail: string, pause = Duration.zero) => new NotHeard({ detail, pause })

/** A connection without an event for this long may be dead, and is renewed. */
const longestSilence = Duration.minutes(4)

/** In characters: longer than any expected event. */
const longestEvent = 1024 * 1024

/** After a refusal, or if the server asks clients to go away. */
const longPause = Duration.minutes(10)

/** A connection that lasts for this long has not failed. */
const leastDuration = Duration.minutes(1)

interface State {
  readonly isHeard: boolean
  readonly failing: { readonly since: number; readonly detail: string } | undefined
}

/** `changes` emits for each event. Each connection begins with an event, so that changes between two connections are found. */
export const makeLiveEvents = Effect.fnUntraced(function* (
  options: SanityOptions
): Effect.fn.Return<Required<Pick<ContentSource, "changes" | "data">>, never, HttpClient.HttpClient> {
  const { id } = options
  const requests = yield* Requests.make({
    ...options,
    maxSilence: Duration.toMillis(longestSilence),
    urls: [originOf(options)]
  })
  const request = requestOf(options)
  const hide = hideSecrets("", request.headers)
  const state = yield* Ref.make<State>({ isHeard: false, failing: undefined })
  const warning = makeWarnWhile(
    (detail) => `The live events of Sanity cannot be received: ${detail}. Changes are found at the next tick`,
    "The live events of Sanity are received again"
  )

  const heard = Effect.gen(function* () {
    yield* Ref.set(state, { isHeard: true, failing: undefined })
    yield* warning.works
  })

  const failed = Effect.fnUntraced(function* ({ message, pause }: NotHeard) {
    const detail = hide(message)
    const now = yield* Clock.currentTimeMillis
    const { failing } = yield* Ref.updateAndGet(state, ({ failing, isHeard }) => ({
      isHeard: false,
      // A connection that ends now and then is no problem.
      failing:
        isHeard && Duration.equals(pause, Duration.zero)
          ? undefined
          : { since: failing?.since ?? now, detail }
    }))
    if (failing !== undefined) yield* warning.fails(detail)
    yield* Effect.sleep(pause)
  })

  /** Listens until the connection ends. Returns whether it has failed. */
  const listen = (ring: Effect.Effect<void>) =>
    requests
      .attempt({
        ...request,
        listen: ({ headers }) =>
          headers["content-type"]?.startsWith("text/event-stream") === true
            ? Effect.succeed(readEvents(Effect.zipRight(heard, ring)))
            : notHeard("the answer is no event stream")
      })
      .pipe(
        Effect.zipRight(notHeard("the server has ended the connection")),
        Effect.catchTag("vitrine/RequestFailed", (failure) =>
          notHeard(failureText(failure, options), failure.isTransient ? failure.retryAfter : longPause)
        ),
        Effect.catchAll(failed),
        Effect.timed,
        Effect.map(([duration]) => Duration.lessThan(duration, leastDuration))
      )

  return {
    changes: Stream.asyncPush<void>(
      (emit) =>
        listen(Effect.sync(() => emit.single(undefined))).pipe(
          Effect.repeat(Schedules.poll("1 second")),
          Effect.annotateLogs("source", id),
          Effect.forkScoped
        ),
      { bufferSize: 1, strategy: "sliding" }
    ),

    data: Effect.map(Ref.get(state), ({ failing, isHeard }) => ({
      "Live events": isHeard ? "received" : "not received",
      problems: failing === undefined ? [] : [problemOf(id, failing)]
    }))
  }
})

const problemOf = (subject: string, { detail, since }: NonNullable<State["failing"]>): Problem => ({
  code: "sanity:live",
  severity: "warning",
  subject,
  text: `The live events of Sanity cannot be received: ${detail}. Changes are found at the next tick; "live": false turns them off`,
  since: new Date(since).toISOString()
})

/** Events of published content need no token. */
const requestOf = (options: SanityOptions) => {
  const headers = headersOf(options)
  const withDrafts = options.perspective !== "published" && headers.authorization !== undefined
  return {
    url: `${originOf(options)}/v${options.apiVersion}/data/live/events/${options.dataset}${withDrafts ? "?includeDrafts=true" : ""}`,
    headers: {
      ...(withDrafts ? headers : Record.remove(headers, "authorization")),
      accept: "text/event-stream",
      "accept-encoding": "identity"
    }
  }
}

/** Reads the text of a response as it arrives: `goaway` ends it, and every other event causes a poll. */
const readEvents = (ring: Effect.Effect<void>) => {
  const read = makeEventReader(longestEvent)
  return Effect.fnUntraced(function* (text: string) {
    const { events, isTooLong } = read(text)
    const goaway = events.find(({ event }) => event === "goaway")
    if (goaway !== undefined) {
      yield* notHeard(`Sanity asks not to connect again: ${excerpt(goaway.data)}`, longPause)
    }
    if (events.length > 0) yield* ring
    if (isTooLong) yield* notHeard(`one of its events has more than ${longestEvent} characters`)
  })
}
