/**
 * The replay backlog: the most recent event of each name that a late subscriber still needs (docs/wire.md, section
 * 4.2).
 *
 * It owns the remembered events and their order. Its users decide which names are remembered.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { optional } from "../internal/schemas.ts"

/**
 * A remembered event: its name, its payload as JSON text, and its place among all events of the bus.
 *
 * @since 0.1.0
 * @category models
 */
export interface RememberedEvent {
  readonly name: string
  readonly data: string
  /** The sequence of its emission, as in `BusEvent`; 0 for an event from before a restart of the numbering. */
  readonly sequence: number
}

/**
 * Each of its operations ends in bounded time. It belongs to one bus, and uses the numbering of this bus.
 *
 * @since 0.1.0
 * @category tags
 */
export class ReplayBacklog extends Context.Tag("vitrine/ReplayBacklog")<
  ReplayBacklog,
  {
    /**
     * Remembers an event as the latest of its name, unless a later event of this name is remembered already: the
     * greater sequence wins, not the later call. If the sequences are equal, the event that is remembered stays. An event with
     * the sequence 0 is older than every event of the bus.
     */
    readonly remember: (event: RememberedEvent) => Effect.Effect<void, ReplayBacklogError>

    /** All remembered events, one for each name, by their sequence, the oldest first. */
    readonly snapshot: Effect.Effect<ReadonlyArray<RememberedEvent>, ReplayBacklogError>
  }
>() {}

/**
 * The engine of the backlog is not usable.
 *
 * @since 0.1.0
 * @category errors
 */
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
