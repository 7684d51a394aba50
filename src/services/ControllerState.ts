/**
 * What the controller reports: the global state, for programs, and the view, for people.
 *
 * It owns the assembly of both. Each plugin has a slice of the state, and a pure function that turns the slice into
 * sections of the status, problems and metrics. Your own plugin does the same.
 *
 * If a plugin adds no such function, the `problems` of its slice, each a `Problem`, are read: they appear in its
 * section of the status and count for the health of the controller. Further rows need a section that the plugin adds.
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

/**
 * A section whose rows are built for every snapshot, within a second. They must not read the state, which waits for them.
 *
 * @since 0.1.0
 * @category models
 */
export interface SectionSource<E = unknown> extends Omit<Section, "rows"> {
  readonly rows: Effect.Effect<ReadonlyArray<Row>, E>
}

/**
 * The part of the view, and the metrics, that come from one plugin.
 *
 * @since 0.1.0
 * @category models
 */
export interface PluginReading {
  readonly sections?: ReadonlyArray<Section>
  readonly problems?: ReadonlyArray<Problem>
  /** If the plugin keeps content. */
  readonly content?: ContentStatus
  /** If the plugin serves the view: its address. */
  readonly dashboard?: string
  /** Called only if metrics are requested, for the same state. Metrics of Effect's `Metric` are read without it. */
  readonly metrics?: () => ReadonlyArray<MetricPair.MetricPair.Untyped>
  /** Codes of problems whose begin and end the plugin logs itself. The controller logs all other problems. */
  readonly logs?: ReadonlyArray<string>
  /**
   * Called for an earlier problem that is not found any more: why the plugin no longer looks for it, or `undefined` if it
   * looked. Then the problem is over, as are all problems without this function.
   */
  readonly unwatched?: (problem: Problem) => string | undefined
}

/**
 * The state that contains the slice, the screens and players as judged by it, and the time in milliseconds since
 * 1970.
 *
 * @since 0.1.0
 * @category models
 */
export interface ReadingContext {
  readonly state: GlobalState
  readonly screens: ReadonlyArray<ScreenStatus>
  readonly players: ReadonlyArray<PlayerStatus>
  readonly now: number
}

/**
 * Reads a slice. Pure. A slice is what the plugin has made of it, or `undefined`.
 *
 * @since 0.1.0
 * @category models
 */
export type ReadSlice = (slice: unknown, context: ReadingContext) => PluginReading

/**
 * The state at one time, with its view and its metrics.
 *
 * @since 0.1.0
 * @category models
 */
export interface ControllerReading {
  readonly state: GlobalState
  readonly view: View
  readonly metrics: () => ReadonlyArray<MetricPair.MetricPair.Untyped>
  /** Codes of problems that are logged where they are found. */
  readonly logs: ReadonlySet<string>
}

/**
 * What a controller reports: a slice of the state for each plugin, and sections of the status.
 *
 * @since 0.1.0
 * @category tags
 */
export class ControllerState extends Context.Tag("vitrine/ControllerState")<
  ControllerState,
  {
    readonly mode: Mode

    /** The state, and the view of it: made once for each change, and again after a second, for all callers. */
    readonly read: Effect.Effect<ControllerReading>

    /** The slices, with their momentary fields, and the current problems. */
    readonly state: Effect.Effect<GlobalState>

    /** Replaces a plugin's slice of the state by the result of `f`. At the first call, `f` gets `undefined`. */
    readonly updateSlice: (plugin: string, f: (slice: unknown) => unknown) => Effect.Effect<void>

    /**
     * Adds momentary fields (counts, progress) to a plugin's slice until the scope ends: they are read with every
     * state, and `_version` does not grow by them. Each read gives new objects: an object that is changed in place
     * counts as unchanged. If reading them fails, the slice is without them, and the failure is logged. If it takes longer
     * than 2 seconds, it is not repeated for a minute. It must not read the state, which waits for it.
     */
    readonly addMomentary: (
      plugin: string,
      fields: Effect.Effect<object, unknown>
    ) => Effect.Effect<void, never, Scope.Scope>

    /**
     * Adds the function that reads the slice of a plugin, until the scope ends; it is called for every view. A
     * function that throws is left out, and the error is logged.
     */
    readonly addReading: (plugin: string, read: ReadSlice) => Effect.Effect<void, never, Scope.Scope>

    /**
     * All sections by `order`. At equal order, sections from slices come first, then the others in the order of their
     * addition. A section that fails is left out and logged; a section that takes longer than a second is left out for a minute.
     */
    readonly status: Effect.Effect<StatusSnapshot>

    /** Shows a section of a plugin in the status until the scope ends. */
    readonly addSection: (section: SectionSource) => Effect.Effect<void, never, Scope.Scope>
  }
>() {}
