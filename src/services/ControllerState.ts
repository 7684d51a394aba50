/**
 * What the controller reports: the global state, for programs, and the view, for people.
 *
 * It owns the assembly of both. Each plugin has a slice of the state, and says with a pure function what its slice means: sections of the
 * status, problems, metrics. Your own plugin does it in the same way.
 *
 * A plugin that adds no such function is read by the `problems` of its slice, each a `Problem`: they are shown in its section of the status
 * and count for the health of the controller. Rows beyond that are in a section that it adds.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as MetricPair from "effect/MetricPair"
import type * as Scope from "effect/Scope"
import type { Problem } from "./Problem.ts"
import type { GlobalState, Mode, Row, Section, StatusSnapshot } from "./StatusSnapshot.ts"
import type { ContentStatus, PlayerStatus, ScreenStatus, View } from "./View.ts"

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

/** What people and monitoring see of a plugin. */
export interface PluginReading {
  readonly sections?: ReadonlyArray<Section>
  readonly problems?: ReadonlyArray<Problem>
  /** Of a plugin that keeps content. */
  readonly content?: ContentStatus
  /** Of a plugin that shows the view: the address where it does. */
  readonly dashboard?: string
  /** Made only when they are asked for, of the same state. Those of Effect's `Metric` are read without it. */
  readonly metrics?: () => ReadonlyArray<MetricPair.MetricPair.Untyped>
  /** Codes of problems that it logs itself when they begin and end. All others are logged for it. */
  readonly logs?: ReadonlyArray<string>
}

/** The state that a slice is part of, the screens and players as they were judged by it, and the time, in milliseconds since 1970. */
export interface ReadingContext {
  readonly state: GlobalState
  readonly screens: ReadonlyArray<ScreenStatus>
  readonly players: ReadonlyArray<PlayerStatus>
  readonly now: number
}

/** What a slice means. Pure. A slice is what the plugin has made of it, or `undefined`. */
export type ReadSlice = (slice: unknown, context: ReadingContext) => PluginReading

/** The state at one time, and all that it means. */
export interface ControllerReading {
  readonly state: GlobalState
  readonly view: View
  readonly metrics: () => ReadonlyArray<MetricPair.MetricPair.Untyped>
  /** Codes of problems that are logged where they are found. */
  readonly logs: ReadonlySet<string>
}

/** What a controller reports: a slice of the state for each plugin, and sections of the status. */
export class ControllerState extends Context.Tag("vitrine/ControllerState")<
  ControllerState,
  {
    readonly mode: Mode

    /** The state, and the view that is made of it then. Callers that wait for it at the same time are given the same. */
    readonly read: Effect.Effect<ControllerReading>

    /** The slices, with what is momentary, and the problems that there are. */
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
     * Until the scope ends, what the slice of a plugin means, read with every state. One that throws is left out, and that is logged.
     */
    readonly addReading: (plugin: string, read: ReadSlice) => Effect.Effect<void, never, Scope.Scope>

    /**
     * All sections by `order`; of the same order those of readings come first, then the others as they were added. A section that
     * fails is left out and logged.
     */
    readonly status: Effect.Effect<StatusSnapshot>

    /** Shows a section of a plugin in the status until the scope ends. */
    readonly addSection: (section: SectionSource) => Effect.Effect<void, never, Scope.Scope>
  }
>() {}
