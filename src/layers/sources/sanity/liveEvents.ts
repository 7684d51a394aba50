/**
 * Hearing of changes from the live events of a dataset: `GET …/data/live/events/<dataset>`, Server-Sent Events with the sync tags of
 * what has changed.
 *
 * It owns when to connect again. What a change means for the content is found by a poll.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { createParser, type EventSourceMessage } from "eventsource-parser"
import { excerpt } from "../../../internal/printable.ts"
import * as schedules from "../../../internal/schedules.ts"
import { makeWarnWhile } from "../../../internal/warnOnce.ts"
import type { Problem } from "../../../services/Problem.ts"
import * as Requests from "../../httpClient/Requests.ts"
import { headersOf, originOf } from "./api.ts"
import { failureText } from "./requestErrors.ts"
import type { SanityOptions } from "./SanityOptions.ts"

/** The events cannot be heard, or not any more. */
class NotHeard extends Schema.TaggedError<NotHeard>()("vitrine/NotHeard", {
  detail: Schema.String,
  /** For how long the server is left alone before the next try. */
  pause: Schema.DurationFromSelf
}) {
  override get message() {
    return this.detail
  }
}

const notHeard = (detail: string, pause = Duration.zero) => new NotHeard({ detail, pause })

/** A connection that says nothing for as long may be a dead one. Another one begins where it ended. */
const longestSilence = Duration.minutes(4)

/** In characters: more than anything that is expected. */
const longestEvent = 1024 * 1024

/** After a refusal, and where the server asks to be left alone. */
const lastingPause = Duration.minutes(10)

/** A connection that lasts for as long has not failed. */
const leastDuration = Duration.minutes(1)

interface State {
  /** How many changes were heard of that concern the answers. */
  readonly changes: number
  readonly lastEventId: Option.Option<string>
  readonly isHeard: boolean
  /** Whether it ever was. */
  readonly wasHeard: boolean
  readonly failing: Option.Option<{ readonly since: number; readonly detail: string }>
}

const initial: State = {
  changes: 0,
  lastEventId: Option.none(),
  isHeard: false,
  wasHeard: false,
  failing: Option.none()
}

/** What is heard of changes that concern the answers. */
export interface LiveEvents {
  /** Emits when something has changed that concerns the answers. */
  readonly changes: Stream.Stream<void>

  /** Remembers what changes concern an answer: all of them where it says no tags. */
  readonly answered: (document: string, syncTags: ReadonlyArray<string> | undefined) => Effect.Effect<void>

  /** How many such changes there were so far. */
  readonly count: Effect.Effect<number>

  readonly lastEventId: Effect.Effect<Option.Option<string>>

  /** As the `data` of a `ContentSource`. */
  readonly data: Effect.Effect<Readonly<Record<string, unknown>>>
}

/** `documents` are the names of all answers that changes may concern. */
export const makeLiveEvents = Effect.fnUntraced(function* (
  options: SanityOptions,
  documents: ReadonlyArray<string>
): Effect.fn.Return<LiveEvents, never, HttpClient.HttpClient> {
  const { apiVersion, dataset, id, perspective } = options
  const requests = yield* Requests.make({
    ...options,
    maxSilence: Duration.toMillis(longestSilence),
    urls: [originOf(options, false)]
  })
  const state = yield* Ref.make(initial)
  const tags = yield* Ref.make<ReadonlyMap<string, ReadonlySet<string>>>(new Map())
  const warning = makeWarnWhile(
    (detail) => `The live events of Sanity cannot be heard: ${detail}. Changes are found at the next tick`
  )

  const withDrafts = perspective !== "published"
  const { authorization, ...others } = headersOf(options)
  const url = `${originOf(options, false)}/v${apiVersion}/data/live/events/${dataset}${
    withDrafts && authorization !== undefined ? "?includeDrafts=true" : ""
  }`

  const refused = (failure: Requests.RequestFailed) =>
    notHeard(failureText(failure, options), failure.isTransient ? failure.retryAfter : lastingPause)

  /** Whether a change concerns an answer. Those that are not there yet, or came without tags, are concerned by all. */
  const concerns = (changed: ReadonlyArray<string>) =>
    Effect.map(Ref.get(tags), (known) =>
      documents.some((document) => {
        const ofDocument = known.get(document)
        return ofDocument === undefined || changed.some((tag) => ofDocument.has(tag))
      })
    )

  const heard = Effect.gen(function* () {
    yield* Ref.update(state, (before) => ({
      ...before,
      isHeard: true,
      wasHeard: true,
      failing: Option.none()
    }))
    if (yield* warning.isFailing) yield* Effect.logInfo("The live events of Sanity are heard again")
    yield* warning.works
  })

  /** Whether an event says that something has changed. */
  const hasChanged = Effect.fnUntraced(function* ({ data, event = "message" }: EventSourceMessage) {
    switch (event) {
      case "restart":
        return true
      case "message":
        return yield* Option.match(decodeMessage(data), {
          onNone: () => Effect.succeed(true),
          onSome: ({ tags }) => concerns(tags)
        })
      default:
        return false
    }
  })

  /** Takes the text of an answer, and what it says. */
  const hear = (hide: Requests.Answer["hide"], change: Effect.Effect<void>) => {
    const take = Effect.fnUntraced(function* (event: EventSourceMessage) {
      const { data, id = "" } = event
      if (event.event === "goaway") {
        return yield* notHeard(`Sanity asks not to connect again: ${excerpt(hide(data))}`, lastingPause)
      }
      yield* heard
      if (isHeaderValue(id)) {
        yield* Ref.update(state, (before) => ({ ...before, lastEventId: Option.some(id) }))
      }
      if (yield* hasChanged(event)) yield* change
    })
    const events: Array<EventSourceMessage> = []
    let isTooLong = false
    const parser = createParser({
      maxBufferSize: longestEvent,
      onEvent: (event) => void events.push(event),
      onError: ({ type }) => {
        isTooLong ||= type === "max-buffer-size-exceeded"
      }
    })
    return Effect.fnUntraced(function* (text: string) {
      parser.feed(text)
      yield* Effect.forEach(events.splice(0), take, { discard: true })
      if (isTooLong) yield* notHeard(`one of its events has more than ${longestEvent} characters`)
    })
  }

  /** Until the connection ends. */
  const listen = (emit: () => void) =>
    Effect.gen(function* () {
      const { lastEventId, wasHeard } = yield* Ref.get(state)
      const change = Effect.zipRight(
        Ref.update(state, (before) => ({ ...before, changes: before.changes + 1 })),
        Effect.sync(emit)
      )
      yield* requests.attempt({
        url,
        headers: {
          ...others,
          ...(withDrafts && authorization !== undefined ? { authorization } : {}),
          accept: "text/event-stream",
          "accept-encoding": "identity",
          ...Option.match(lastEventId, { onNone: () => ({}), onSome: (id) => ({ "last-event-id": id }) })
        },
        listen: Effect.fnUntraced(function* ({ headers, hide }) {
          if (headers["content-type"]?.startsWith("text/event-stream") !== true) {
            return yield* notHeard("the answer is no event stream")
          }
          // Events during the interruption are not known.
          if (wasHeard && Option.isNone(lastEventId)) yield* change
          return hear(hide, change)
        })
      })
      return yield* notHeard("the server has ended the connection")
    }).pipe(Effect.mapError((error) => (error instanceof NotHeard ? error : refused(error))))

  const failed = ({ detail, pause }: NotHeard) =>
    Effect.gen(function* () {
      const { isHeard } = yield* Ref.get(state)
      const since = yield* Clock.currentTimeMillis
      yield* Ref.update(state, (before) => ({ ...before, isHeard: false }))
      // That a connection ends now and then is nothing to speak of.
      if (isHeard && Duration.equals(pause, Duration.zero)) return
      yield* Ref.update(state, (before) => ({
        ...before,
        failing: Option.some({
          since: Option.match(before.failing, { onNone: () => since, onSome: ({ since }) => since }),
          detail
        })
      }))
      yield* warning.fails(detail)
      yield* Effect.sleep(pause)
    })

  /** Gives whether it has failed. */
  const attempt = (emit: () => void) =>
    Effect.catchAll(listen(emit), failed).pipe(
      Effect.timed,
      Effect.map(([duration]) => Duration.lessThan(duration, leastDuration))
    )

  return {
    changes: Stream.asyncPush<void>(
      (emit) =>
        Effect.forkScoped(
          Effect.repeat(
            attempt(() => emit.single(undefined)),
            schedules.poll("1 second")
          ).pipe(Effect.annotateLogs("source", id))
        ),
      { bufferSize: 1, strategy: "sliding" }
    ),

    answered: (document, syncTags) =>
      Ref.update(tags, (before) => {
        const after = new Map(before)
        if (syncTags === undefined) after.delete(document)
        else after.set(document, new Set(syncTags))
        return after
      }),

    count: Effect.map(Ref.get(state), ({ changes }) => changes),

    lastEventId: Effect.map(Ref.get(state), ({ lastEventId }) => lastEventId),

    data: Effect.map(Ref.get(state), ({ failing, isHeard }) => ({
      "Live events": isHeard ? "heard" : "not heard",
      problems: Option.match(failing, {
        onNone: (): ReadonlyArray<Problem> => [],
        onSome: ({ detail, since }) => [
          {
            code: "sanity:live",
            severity: "warning",
            subject: id,
            text: `The live events of Sanity cannot be heard: ${detail}. Changes are found at the next tick; "live": false does without`,
            since: new Date(since).toISOString()
          }
        ]
      })
    }))
  }
})

/** What cannot be sent back is of no use. */
const isHeaderValue = (id: string): boolean => /^[\x21-\x7e]{1,1000}$/.test(id)

const decodeMessage = Schema.decodeUnknownOption(
  Schema.parseJson(Schema.Struct({ tags: Schema.Array(Schema.String) }))
)
