/**
 * The event stream of the page: what it shows, sent again as a whole if it has changed.
 *
 * Four events: `now`, the controller's time, and `overview`, `fetches` and `log`, each with everything of its kind: a page that
 * comes late, or comes back, is given the same as all others.
 */
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import { jsonText } from "../../internal/JsonText.ts"
import { type FrameSink, makeFanOut } from "../fanOut/FanOut.ts"
import type { EventStream } from "../http/EventStreamResponse.ts"
import { type TooManyClients, tooManyClients } from "../http/errors.ts"
import * as SseFrame from "../http/SseFrame.ts"
import type { FetchHistory } from "./fetchHistory.ts"
import type { LogLine } from "./logTail.ts"
import type { Overview } from "./overview.ts"

export interface Live extends EventStream {
  /** Ends all streams; a sink that joins afterwards is ended at once. */
  readonly close: Effect.Effect<void>
  /** That something has changed: open pages are sent it soon. Never waits. */
  readonly changed: () => void
  /** How many pages are open. */
  readonly clients: () => number
}

export interface Sources {
  readonly overview: Effect.Effect<Overview>
  readonly fetches: () => FetchHistory
  readonly log: () => ReadonlyArray<LogLine>
}

/** How long changes are collected. */
const pause = "500 millis"

/** How often the state is read while a page is open, for what has no event: leases, for example. The time that is sent then keeps connections alive. */
const pollEvery = "5 seconds"

/** It ends with the scope. Nothing runs and nothing is read while no page is open. */
export const make = Effect.fnUntraced(function* (
  { fetches, log, overview }: Sources,
  wake: Queue.Queue<void>,
  maxClients: number
) {
  const fanOut = makeFanOut(() => {})
  const oneAtATime = (yield* Effect.makeSemaphore(1)).withPermits(1)
  /** What clients were sent last, by the names of the events. */
  const sent = new Map<string, string>()

  /** The events of what has changed. */
  const framesOf = function* ({ now, ...overview }: Overview) {
    for (const [name, value] of Object.entries({ now, overview, fetches: fetches(), log: log() })) {
      const frame = SseFrame.event(name, jsonText(value))
      if (sent.get(name) !== frame) {
        sent.set(name, frame)
        yield frame
      }
    }
  }

  const refresh = Effect.flatMap(overview, (overview) => fanOut.send(framesOf(overview)))

  const next = Effect.suspend(() =>
    fanOut.size() > 0 ? Effect.timeoutOption(Queue.take(wake), pollEvery) : Effect.asVoid(Queue.take(wake))
  )

  yield* next.pipe(
    Effect.zipRight(oneAtATime(Effect.suspend(() => (fanOut.size() > 0 ? refresh : Effect.void)))),
    Effect.zipRight(Effect.sleep(pause)),
    Effect.forever,
    Effect.forkScoped
  )

  const begin = (sink: FrameSink) => {
    sink.begin(Buffer.from(SseFrame.retry + [...sent.values()].join("")))
    fanOut.join(sink)
    wake.unsafeOffer()
  }

  /** Beside others, a page begins with what they were sent last, and is soon sent the rest with them. */
  const join = (sink: FrameSink) =>
    Effect.suspend((): Effect.Effect<void, TooManyClients> => {
      const pages = fanOut.size()
      return pages >= maxClients
        ? tooManyClients(maxClients)
        : Effect.map(pages > 0 ? Effect.void : refresh, () => begin(sink))
    }).pipe(oneAtATime)

  const live: Live = {
    changed: () => void wake.unsafeOffer(),
    clients: () => fanOut.size(),
    join,
    leave: fanOut.leave,
    close: Effect.sync(fanOut.close)
  }
  return live
})
