/**
 * What becomes of each input of the event stream: events are encoded once and handed to all clients in their order, what is
 * replayed is remembered, and what is missing is looked for in the backlog.
 */
import type * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type { BusEvent } from "../../services/EventBus.ts"
import type { RememberedEvent } from "../../services/ReplayBacklog.ts"
import * as SseFrame from "../http/SseFrame.ts"
import type { Backlog } from "./Backlog.ts"
import type { Clients } from "./Clients.ts"
import type { EventEncoder } from "./EventEncoder.ts"
import type * as Replay from "./Replay.ts"
import { makeRemembering } from "./remembering.ts"

export type Input =
  | { readonly _tag: "Events"; readonly events: ReadonlyArray<BusEvent> }
  | { readonly _tag: "Ping" }
  /** The backlog was read again. */
  | { readonly _tag: "Reread"; readonly backlog: ReadonlyArray<RememberedEvent> }

export interface Forwarding {
  /** A feed has begun: clients are given what the backlog has and they have not. */
  readonly begin: Effect.Effect<void>
  /** Gives clients what comes next. Never fails: where it cannot, which is logged, their streams end. */
  readonly forward: (input: Input) => Effect.Effect<void>
  /** The feed is lost: all streams end. */
  readonly end: Effect.Effect<void>
}

interface Parts {
  readonly backlog: Backlog
  readonly clients: Clients
  readonly encoder: EventEncoder
}

export const makeForwarding = Effect.fnUntraced(function* ({ backlog, clients, encoder }: Parts) {
  const clock = yield* Effect.clock
  const remembering = yield* makeRemembering
  const { recorder } = clients

  const warnOfGap = yield* Effect.once(
    Effect.logWarning(
      "The event bus has left out events: they came faster than they could be forwarded, or the bus has lost them. Clients get the latest replayed events from the backlog; other missed events are lost."
    )
  )

  /** Gives clients what the backlog has and they have not. How many events that were. */
  const catchUp = (input: Replay.Input): Effect.Effect<number> =>
    Effect.suspend(() => {
      const output = backlog.advance(input)
      if (output._tag === "EndStreams") {
        clients.endStreams()
      }
      if (output._tag !== "Send") {
        return Effect.succeed(0)
      }
      return Effect.as(clients.send(foundFrames(output.events)), output.events.length)
    })

  /** The frames of events that the backlog has. Each is one of the replayed events once its frame is taken. */
  const foundFrames = function* (events: ReadonlyArray<RememberedEvent>): Generator<string> {
    for (const event of events) {
      backlog.advance({ _tag: "Sent", event })
      yield SseFrame.event(event.name, event.data)
    }
  }

  /** The frames of events in their order, up to a gap. */
  const framesOf = function* (events: ReadonlyArray<BusEvent>): Generator<string, Gap | undefined> {
    for (const [index, event] of events.entries()) {
      const { name, sequence } = event
      const isForwarded = encoder.isForwarded(name)
      const isReplayed = encoder.isReplayed(name)
      // What is only live is not encoded if there are no clients.
      const data = isForwarded && (isReplayed || clients.size() > 0) ? encoder.data(event) : undefined
      const output = backlog.advance({ _tag: "Event", name, sequence, data: isReplayed ? data : undefined })
      if (output._tag === "Gap") {
        return { missing: output.missing, next: sequence, events: events.slice(index) }
      }
      if (output._tag === "Forward" && isForwarded) {
        recorder.forwarded(name, clock.unsafeCurrentTimeMillis())
        if (data !== undefined && isReplayed) {
          remembering.remember({ name, data, sequence })
        }
        if (data !== undefined && clients.size() > 0) {
          yield SseFrame.event(name, data)
        }
      }
    }
    return undefined
  }

  const send = (events: ReadonlyArray<BusEvent>): Effect.Effect<void> =>
    Effect.flatMap(clients.send(framesOf(events)), (gap) =>
      gap === undefined ? Effect.void : Effect.zipRight(repair(gap), send(gap.events))
    )

  /** Gives clients what the backlog has of the events that are missing. */
  const repair = ({ missing, next }: Gap) =>
    Effect.flatMap(backlog.read, (events) => catchUp({ _tag: "Repaired", next, backlog: events })).pipe(
      Effect.tap((found) => Effect.sync(() => recorder.missed((missing - found) * clients.size()))),
      Effect.zipRight(warnOfGap)
    )

  const handle = (input: Input): Effect.Effect<unknown> => {
    switch (input._tag) {
      case "Events":
        return send(input.events)
      case "Ping":
        return clients.send([SseFrame.ping].values())
      case "Reread":
        return catchUp(input)
    }
  }

  /** Clients would not notice that nothing comes any more: their streams end, so that they come back. */
  const orEndStreams = (handled: Effect.Effect<unknown>): Effect.Effect<void> =>
    Effect.catchAllCause(Effect.asVoid(handled), (cause: Cause.Cause<never>) =>
      Effect.zipRight(
        Effect.logError("An event could not be forwarded", cause),
        Effect.sync(clients.endStreams)
      )
    )

  const forwarding: Forwarding = {
    begin: orEndStreams(
      Effect.flatMap(backlog.read, (events) => catchUp({ _tag: "Opened", backlog: events }))
    ),
    forward: (input) => orEndStreams(handle(input)),
    end: orEndStreams(Effect.zipRight(catchUp({ _tag: "Lost" }), remembering.forget))
  }
  return forwarding
})

/** Events that follow others which the bus has left out. */
interface Gap {
  readonly missing: number
  /** The sequence of the first of them. */
  readonly next: number
  readonly events: ReadonlyArray<BusEvent>
}
