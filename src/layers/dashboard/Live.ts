/**
 * The event stream of the page: what it shows, sent again as a whole if it has changed.
 *
 * Three events: `now`, the controller's time, and `overview` and `log`, each with everything of its kind: a page that comes late,
 * or comes back, is given the same as all others.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { jsonText } from "../../internal/jsonText.ts"
import type { LogLine } from "../../internal/logTail.ts"
import { whenChanged } from "../../internal/Schedules.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import { type FrameSink, makeFanOut } from "../fanOut/FanOut.ts"
import type { EventStream } from "../http/EventStreamResponse.ts"
import { type TooManyClients, tooManyClients } from "../http/errors.ts"
import * as SseFrame from "../http/SseFrame.ts"
import type { Overview } from "./overview.ts"

export interface Live extends EventStream {
  /** Something has changed: open pages are sent it soon. */
  readonly changed: Effect.Effect<void>
  /** Ends all streams; a sink that joins afterwards is ended at once. */
  readonly close: Effect.Effect<void>
  /** How many pages are open. */
  readonly clients: () => number
}

/** What the page shows. */
export interface Shown {
  readonly overview: Overview
  readonly log: ReadonlyArray<LogLine>
}

export interface Options {
  readonly shown: Effect.Effect<Shown>
  /** Takes what says that something has changed: open pages are sent it soon. */
  readonly changed: Queue.Queue<void>
  readonly maxClients: number
}

/** How long changes are collected. */
const pause = "500 millis"

/** How often the state is read while a page is open, for what has no event: leases, for example. The time that is sent then keeps connections alive. */
const pollEvery = Duration.seconds(5)

/** How long the state may take to be read: longer than all that has a timeout of its own. */
const timeout = Duration.seconds(10)

/** It ends with the scope. Nothing runs and nothing is read while no page is open. */
export const make = Effect.fnUntraced(function* ({ changed, maxClients, shown }: Options) {
  const fanOut = makeFanOut(() => {})
  const oneAtATime = (yield* Effect.makeSemaphore(1)).withPermits(1)
  /** What clients were sent last, by the names of the events. */
  const sent = new Map<string, string>()

  /** The events of what has changed. */
  const framesOf = function* ({ log, overview: { now, ...overview } }: Shown) {
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
  const refresh = Effect.flatMap(shown, (shown) => fanOut.send(framesOf(shown))).pipe(
    Effect.timeout(timeout),
    Effect.zipRight(works),
    Effect.catchAll(() => fails(`The state was not read within ${Duration.format(timeout)}.`)),
    Effect.whenEffect(isOpen),
    oneAtATime
  )

  yield* whenChanged(refresh, {
    changed,
    shortest: pause,
    longest: () => Effect.map(isOpen, (isOpen) => (isOpen ? pollEvery : Duration.infinity))
  }).pipe(Effect.forkScoped)
  // Not in the fiber of a page: its request cannot be interrupted, and what is read for all pages outlives it.
  const refreshNow = Effect.forkIn(Effect.interruptible(refresh), yield* Effect.scope)

  /** Waits for nothing: a page begins with what the others were sent last, and is soon sent the rest with them. */
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
