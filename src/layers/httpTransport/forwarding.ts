/**
 * Events into frames: which are forwarded, each encoded once (specification, section 4.1 and 4.2).
 *
 * Where nothing is wrong, all events of a turn are one synchronous function: a process that sleeps in between pays for
 * each step more.
 */
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { encodeJson } from "../../internal/JsonText.ts"
import { printableLine } from "../../internal/printable.ts"
import { makeWarnOnce } from "../../internal/warnOnce.ts"
import type { BusEvent } from "../../services/EventBus.ts"
import type { ReplayBacklog } from "../../services/ReplayBacklog.ts"
import type { FanOut, FrameSink } from "../fanOut/FanOut.ts"
import type { Member } from "./Audience.ts"
import * as EventFilter from "./EventFilter.ts"
import type { HttpTransportOptions } from "./HttpTransportOptions.ts"
import * as Replay from "./Replay.ts"
import * as SseFrame from "./SseFrame.ts"
import type { Recorder } from "./statistics.ts"

export interface Forwarding extends Pick<Replay.Replay, "lost" | "open" | "preamble"> {
  /** Takes events of the feed, in their order. Gives an Effect where something is wrong, and takes the rest in it. */
  readonly take: (events: ReadonlyArray<BusEvent>) => Effect.Effect<void, never, Scope.Scope> | undefined
}

export interface Options {
  readonly clock: Clock.Clock
  readonly endStreams: Effect.Effect<void>
  readonly fanOut: FanOut<FrameSink, Member>
  readonly options: Pick<HttpTransportOptions, "events" | "replayEvents">
  readonly recorder: Recorder
}

/** A name as the log may show it. */
const shownName = (name: string): string => printableLine(JSON.stringify(name), 100)

export const makeForwarding: (
  options: Options
) => Effect.Effect<Forwarding, never, ReplayBacklog | Scope.Scope> = Effect.fnUntraced(function* ({
  clock,
  endStreams,
  fanOut,
  options,
  recorder
}) {
  const isForwarded = EventFilter.make(options.events)
  const replayed = new Set(options.replayEvents)
  const isReplayed = (name: string) => replayed.has(name) && isForwarded(name) && SseFrame.isEventName(name)
  const warnOfName = makeWarnOnce(
    (name) => `Events named ${shownName(name)} are not forwarded: the name has a line break or a NUL.`
  )
  const warnOfPayload = makeWarnOnce(
    (name) => `An event ${shownName(name)} has what JSON cannot hold: a placeholder is sent in its place.`
  )
  const warnOfGap = yield* Effect.once(
    Effect.logWarning(
      "The event bus has left out events: they came faster than they could be forwarded, or the bus has lost them. Of names that are replayed, clients are given the latest that the backlog has; the others they do not see."
    )
  )
  const unsendable = new Set<string>()
  const incomplete = new Set<string>()

  const replay = yield* Replay.make({
    endStreams,
    isReplayed,
    send: (events) => {
      for (const { data, name } of events) {
        send(name, data)
      }
      fanOut.flush()
    }
  })

  const send = (name: string, data: string) => {
    if (fanOut.size() > 0) {
      fanOut.add(SseFrame.event(name, data))
    }
  }

  const forwardOne = ({ name, payload, sequence }: BusEvent) => {
    const isKept = isReplayed(name)
    if (!isKept && fanOut.size() === 0) {
      return
    }
    const { isComplete, text: data } = encodeJson(payload)
    if (!isComplete) {
      incomplete.add(name)
    }
    if (isKept) {
      replay.remember({ name, data, sequence })
    }
    send(name, data)
  }

  /** Forwards events up to a gap, and gives the index of the one behind it, or their number. */
  const forward = (events: ReadonlyArray<BusEvent>, from: number): number => {
    let index = from
    let forwarded = 0
    let lastName = ""
    for (; index < events.length; index++) {
      const event = events[index]
      const how = event === undefined ? "gap" : replay.receive(event)
      if (event === undefined || how === "gap") {
        break
      }
      if (how === "new" && isForwarded(event.name)) {
        if (SseFrame.isEventName(event.name)) {
          forwardOne(event)
          forwarded += 1
          lastName = event.name
        } else {
          unsendable.add(event.name)
        }
      }
    }
    if (forwarded > 0) {
      recorder.forwarded(forwarded, lastName, clock.unsafeCurrentTimeMillis())
      fanOut.flush()
    }
    return index
  }

  const warn = Effect.suspend(() => {
    const warnings = [...[...unsendable].map(warnOfName), ...[...incomplete].map(warnOfPayload)]
    unsendable.clear()
    incomplete.clear()
    return Effect.all(warnings, { discard: true })
  })

  const repair = (next: BusEvent) =>
    Effect.flatMap(replay.repair(next), (missing) => {
      recorder.missed(missing * fanOut.size())
      return warnOfGap
    })

  const takeFrom = (
    events: ReadonlyArray<BusEvent>,
    from: number
  ): Effect.Effect<void, never, Scope.Scope> | undefined => {
    const index = forward(events, from)
    const next = events[index]
    if (next !== undefined) {
      return Effect.zipRight(
        repair(next),
        Effect.suspend(() => takeFrom(events, index) ?? Effect.void)
      )
    }
    return unsendable.size + incomplete.size === 0 ? undefined : warn
  }

  const { lost, open, preamble } = replay
  return { lost, open, preamble, take: (events) => takeFrom(events, 0) }
})
