/**
 * What becomes of each input of the event stream: events are encoded once and handed to all clients in their order, what is
 * replayed is remembered, and what is missing is looked for in the backlog.
 */
import type * as Cause from "effect/Cause"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type { BusEvent } from "../../services/EventBus.ts"
import * as SseFrame from "../http/SseFrame.ts"
import * as BacklogReader from "./BacklogReader.ts"
import * as Clients from "./Clients.ts"
import * as EventEncoder from "./EventEncoder.ts"
import type { HttpTransportOptions } from "./HttpTransportOptions.ts"
import * as Replay from "./Replay.ts"
import { makeRemembering } from "./remembering.ts"

export type ForwardingOptions = Pick<HttpTransportOptions, "events" | "maxClients" | "replayEvents">

export type Input =
  | { readonly _tag: "Events"; readonly events: ReadonlyArray<BusEvent> }
  | { readonly _tag: "Ping" }
  | { readonly _tag: "Opened"; readonly done: Deferred.Deferred<void> }
  | { readonly _tag: "Lost" }
  | Extract<Replay.Input, { readonly _tag: "Reread" }>

/** `changed` is called whenever a client has come or gone. */
export const makeForwarding = Effect.fnUntraced(function* (options: ForwardingOptions, changed: () => void) {
  const clock = yield* Effect.clock
  const encoder = EventEncoder.make(options)
  const backlog = yield* BacklogReader.make(encoder.isReplayed)
  const remembering = yield* makeRemembering
  // Read when a client joins, in the same synchronous step in which its sink becomes that of a client.
  let replay = Replay.initial
  let encoded = { view: replay.view, bytes: Buffer.from(SseFrame.retry) }

  /** What a stream begins with. The same bytes until the view changes. */
  const preamble = () => {
    if (encoded.view !== replay.view) {
      const frames = Replay.replayed(replay).map(({ data, name }) => SseFrame.event(name, data))
      encoded = { view: replay.view, bytes: Buffer.from(SseFrame.retry + frames.join("")) }
    }
    return encoded.bytes
  }

  const clients = Clients.make({ changed, maxClients: options.maxClients, preamble })
  const { recorder } = clients

  const warnOfGap = yield* Effect.once(
    Effect.logWarning(
      "The event bus has left out events: they came faster than they could be forwarded, or the bus has lost them. Of names that are replayed, clients are given the latest that the backlog has; the others they do not see."
    )
  )

  const advance = (input: Replay.Input): Replay.Output => {
    const { output, reread, state } = Replay.step(replay, input)
    replay = state
    if (reread) {
      backlog.readAgain()
    }
    if (output._tag === "EndStreams") {
      clients.endStreams()
    }
    return output
  }

  /** Gives clients what the backlog has and they have not. How many events that were. */
  const catchUp = (input: Replay.Input): Effect.Effect<number> =>
    Effect.suspend(() => {
      const output = advance(input)
      if (output._tag !== "Send") {
        return Effect.succeed(0)
      }
      const frames = output.events.map(({ data, name }) => SseFrame.event(name, data))
      return Effect.as(clients.send(frames.values()), frames.length)
    })

  /** The frames of events in their order, up to a gap. */
  const framesOf = function* (events: ReadonlyArray<BusEvent>): Generator<string, Gap | undefined> {
    for (const [index, event] of events.entries()) {
      const { name, sequence } = event
      const isForwarded = encoder.isForwarded(name)
      const isReplayed = encoder.isReplayed(name)
      // What is only live is not encoded if there are no clients.
      const data = isForwarded && (isReplayed || clients.size() > 0) ? encoder.data(event) : undefined
      const output = advance({ _tag: "Event", name, sequence, data: isReplayed ? data : undefined })
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
      gap === undefined ? encoder.warn : Effect.zipRight(repair(gap), send(gap.events))
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
      case "Opened":
        return Effect.flatMap(backlog.read, (events) => catchUp({ _tag: "Opened", backlog: events })).pipe(
          Effect.zipRight(Deferred.succeed(input.done, undefined))
        )
      case "Lost":
        return Effect.zipRight(catchUp(input), remembering.forget)
      case "Reread":
        return catchUp(input)
    }
  }

  /** Clients would not notice that nothing comes any more: their streams end, so that they come back. */
  const endAfterFailure = (cause: Cause.Cause<never>) =>
    Effect.zipRight(
      Effect.logError("An event could not be forwarded", cause),
      Effect.sync(clients.endStreams)
    )

  return {
    backlog,
    clients,
    forward: (input: Input) => Effect.catchAllCause(handle(input), endAfterFailure)
  }
})

/** Events that follow others which the bus has left out. */
interface Gap {
  readonly missing: number
  /** The sequence of the first of them. */
  readonly next: number
  readonly events: ReadonlyArray<BusEvent>
}
