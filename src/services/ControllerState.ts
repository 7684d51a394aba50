/**
 * What the controller says of itself: the global state, for programs, and the status, for people.
 *
 * It owns the assembly of both. Each plugin has a slice of the state, and the status is made of the slices: those of Vitrine's
 * own plugins (`Slices.ts`) have a section each.
 *
 * A plugin of one's own reports what is wrong as `problems` in its slice, each a `Problem`: they are shown in its section of the
 * status, and count for the health of the controller. Rows beyond that are in a section that it adds.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { GlobalState, Mode, Row, Section, StatusSnapshot } from "./StatusSnapshot.ts"

export type {
  ExpectedScreen,
  GlobalState,
  Identity,
  Mode,
  Node,
  Row,
  Section,
  StatusSnapshot,
  Tone
} from "./StatusSnapshot.ts"

/** A section whose rows are built for every snapshot. */
export interface SectionSource<E = unknown> extends Omit<Section, "rows"> {
  readonly rows: Effect.Effect<ReadonlyArray<Row>, E>
}

/** What a controller says of itself: a slice of the state for each plugin, and sections of the status. */
export class ControllerState extends Context.Tag("vitrine/ControllerState")<
  ControllerState,
  {
    readonly mode: Mode

    /** The slices, with what is momentary, and the problems that they and the sections have. */
    readonly state: Effect.Effect<GlobalState>

    /** Replaces a plugin's slice of the state by what `f` makes of it; the first time, of `undefined`. */
    readonly updateSlice: (plugin: string, f: (slice: unknown) => unknown) => Effect.Effect<void>

    /**
     * Until the scope ends, fields of a plugin's slice that never rest (counts, progress): they are read with every state, and
     * `_version` does not grow by them. Where that fails, the slice is without them and it is logged.
     */
    readonly addMomentary: (
      plugin: string,
      fields: Effect.Effect<object, unknown>
    ) => Effect.Effect<void, never, Scope.Scope>

    /**
     * All sections by `order`; of the same order those of slices come first, then the others as they were added. A section that
     * fails is left out and logged.
     */
    readonly status: Effect.Effect<StatusSnapshot>

    /** Shows a section of a plugin of one's own in the status until the scope ends. */
    readonly addSection: (section: SectionSource) => Effect.Effect<void, never, Scope.Scope>
  }
>() {}
