/**
 * The replay backlog: the most recent frame of each name that a late subscriber must still learn of
 * (specification, section 4.2).
 *
 * It owns what is remembered and in which order. Which names are worth remembering is decided by whoever
 * remembers them.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"

/** What is remembered of an event: its name and its payload as JSON text. */
export interface RememberedEvent {
  readonly name: string
  readonly data: string
}

export class ReplayBacklog extends Context.Tag("vitrine/ReplayBacklog")<
  ReplayBacklog,
  {
    /** Remembers an event as the latest of its name; an earlier one of that name is forgotten. */
    readonly remember: (event: RememberedEvent) => Effect.Effect<void>

    /** All remembered events, one for each name, the one emitted longest ago first. */
    readonly snapshot: Effect.Effect<ReadonlyArray<RememberedEvent>>
  }
>() {}
