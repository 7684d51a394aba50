/**
 * What the controller says of itself: the global state, for programs, and the status, for people.
 *
 * It owns the assembly of both. Their parts belong to the plugins: each has a slice of the state and may add
 * sections to the status.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { GlobalState, Mode, Row, Section, StatusSnapshot } from "./StatusSnapshot.ts"

export type { GlobalState, Mode, Row, Section, StatusSnapshot, Tone } from "./StatusSnapshot.ts"

/** A section whose rows are built for every snapshot. */
export interface SectionSource<E = unknown> extends Omit<Section, "rows"> {
  readonly rows: Effect.Effect<ReadonlyArray<Row>, E>
  /**
   * What the rows say of what never rests (counts, progress), as data: fields of the slice of the section's name, read with
   * every state. `_version` does not grow by them.
   */
  readonly data?: Effect.Effect<Readonly<Record<string, unknown>>, E>
}

/** What a controller says of itself: a slice of the state for each plugin, and sections of the status. */
export class ControllerState extends Context.Tag("vitrine/ControllerState")<
  ControllerState,
  {
    readonly mode: Mode

    /** The slices, with the data of sections. */
    readonly state: Effect.Effect<GlobalState>

    /** Replaces a plugin's slice of the state by what `f` makes of it; the first time, of `undefined`. */
    readonly updateSlice: (plugin: string, f: (slice: unknown) => unknown) => Effect.Effect<void>

    /** All sections by `order`, then in the order they were added. One that fails is left out and logged. */
    readonly status: Effect.Effect<StatusSnapshot>

    /** Shows a section in the status until the scope ends. */
    readonly addSection: (section: SectionSource) => Effect.Effect<void, never, Scope.Scope>
  }
>() {}
