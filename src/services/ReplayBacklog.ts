/**
 * The replay backlog: the most recent event of each name that a late subscriber must still learn of
 * (docs/wire.md, section 4.2).
 *
 * It owns what is remembered and in which order. Which names are remembered is decided by its users.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { optional } from "../internal/schemas.ts"

/** What is remembered of an event: its name, its payload as JSON text, and its place among all events of the bus. */
export interface RememberedEvent {
  readonly name: string
  readonly data: string
  /** That of its emission, as in `BusEvent`; 0 for what is older than the numbering of the bus, from before a restart. */
  readonly sequence: number
}

/** Each of its operations ends in bounded time. It belongs to one bus, whose numbering it knows. */
export class ReplayBacklog extends Context.Tag("vitrine/ReplayBacklog")<
  ReplayBacklog,
  {
    /**
     * Remembers an event as the latest of its name, unless a later one of that name is remembered already: the
     * greater sequence wins, not the later call.
     */
    readonly remember: (event: RememberedEvent) => Effect.Effect<void, ReplayBacklogError>

    /** All remembered events, one for each name, by their sequence: the one emitted longest ago first. */
    readonly snapshot: Effect.Effect<ReadonlyArray<RememberedEvent>, ReplayBacklogError>
  }
>() {}

/** The engine of the backlog could not be used. */
export class ReplayBacklogError extends Schema.TaggedError<ReplayBacklogError>()(
  "vitrine/ReplayBacklogError",
  {
    action: Schema.Literal("read", "write"),
    detail: Schema.String,
    cause: optional(Schema.Defect)
  }
) {
  override get message() {
    return `The replay backlog could not be ${this.action === "read" ? "read" : "written"}: ${this.detail}`
  }
}
