/**
 * The event stream of the page. Changed data is sent again as a whole.
 *
 * There are three events: `now` with the controller's time, and `overview` and `log`, each with all its data, so that a page
 * that joins late or reconnects gets the same as all others.
 */
import * as Cause from "effect/Cause"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { jsonText } from "../../internal/jsonText.ts"
import type { LogLine } from "../../internal/loggers.ts"
import { whenChanged } from "../../internal/Schedules.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import { type FrameSink, makeFanOut } from "../fanOut/FanOut.ts"
import type { EventStream } from "../http/EventStreamResponse.ts"
import { type TooManyClients, tooManyClients } from "../http/errors.ts"
import * as SseFrame from "../http/SseFrame.ts"
import type { Overview } from "./overview.ts"

export interface Live extends EventStream {
  /** Reports a change: open pages get new data soon. */
  readonly changed: Effect.Effect<void>
  /** Ends all streams; a sink that joins afterwards is ended at once. */
  readonly close: Effect.Effect<void>
  /** How many pages are open. */
  readonly clients: () => number
}

/** The data of the page. */
export interface PageData {
  readonly overview: Overview
  readonly log: ReadonlyArray<LogLine>
}

export interface Options {
  readonly data: Effect.Effect<PageData>
  /** Gets an item for each change: open pages get new data soon. */
  readonly changed: Queue.Queue<void>
  readonly maxClients: number
}

/** How long changes are collected. */
const pause = "500 millis"

/** How often the state is read while a page is open, because some changes have no event, for example leases. Sending the time keeps connections alive. */
const pollEvery = Duration.seconds(5)

/** How long reading the state may take: longer than every timeout inside it. */
const timeout = Duration.seconds(10)

/** Ends with the scope. Nothing runs while no page is open. */
export const make = Effect.fnUntraced(function* ({ changed, data, maxClients }: Options) {
  const fanOut = makeFanOut(() => {})
  const oneAtATime = (yield* Effect.makeSemaphore(1)).withPermits(1)
  /** The data that clients got last, by event name. */
  const sent = new Map<string, string>()

  /** The events with changed data. */
  const framesOf = function* ({ log, overview: { now, ...overview } }: PageData) {
    for (const [name, value] of Object.entries({ now, overview, log })) {
      const frame = SseFrame.event(name, jsonText(value))
      if (sent.get(name) !== frame) {
        sent.set(name, frame)
        yield frame
      }
    }
  }

  const isOpen = Effect.sync(() => fanOut.size() > 0)
  const { fails, works } = makeWarnWhile((message) => `The dashboard shows nothing new. ${message}`)
  const refresh = Effect.flatMap(data, (data) => fanOut.send(framesOf(data))).pipe(
    Effect.timeoutFail({
      duration: timeout,
      onTimeout: () => `The state was not read within ${Duration.format(timeout)}.`
    }),
    Effect.zipRight(works),
    // A defect would end the fiber for good.
    Effect.catchAllCause((cause) => fails(messageOf(Cause.squash(cause)))),
    Effect.whenEffect(isOpen),
    oneAtATime
  )

  yield* whenChanged(refresh, {
    changed,
    shortest: pause,
    longest: () => Effect.map(isOpen, (isOpen) => (isOpen ? pollEvery : Duration.infinity))
  }).pipe(Effect.forkScoped)
  // Not in the fiber of a page: its request cannot be interrupted, and the data for all pages must outlive the request.
  const refreshNow = Effect.forkIn(Effect.interruptible(refresh), yield* Effect.scope)

  /** Does not wait: a page begins with the last data of the others, and soon gets new data together with them. */
  const join = (sink: FrameSink) =>
    Effect.suspend((): Effect.Effect<unknown, TooManyClients> => {
      const pages = fanOut.size()
      if (pages >= maxClients) {
        return tooManyClients(maxClients)
      }
      if (pages === 0) sent.clear()
      sink.begin(Buffer.from(SseFrame.retry + [...sent.values()].join("")))
      fanOut.join(sink)
      return pages === 0 ? refreshNow : Queue.offer(changed, undefined)
    }).pipe(Effect.asVoid)

  return {
    changed: Effect.asVoid(Queue.offer(changed, undefined)),
    clients: () => fanOut.size(),
    join,
    leave: fanOut.leave,
    close: Effect.sync(fanOut.close)
  } satisfies Live
})
