/**
 * What the controller reports: the global state, for programs, and the view, for people.
 *
 * It owns the assembly of both. Each plugin registers once, with its slice of the state, and a pure function that turns
 * the slice into sections of the status, problems and metrics. Your own plugin does the same.
 *
 * If a plugin has no such function, the `problems` of its slice, each a `Problem`, are read: they appear in a section
 * of its name and count for the health of the controller.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as MetricPair from "effect/MetricPair"
import type * as Scope from "effect/Scope"
import type { Problem } from "./Problem.ts"
import type { GlobalState, Mode, Section, StatusSnapshot } from "./StatusSnapshot.ts"
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
 * The part of the view, and the metrics, that come from one plugin.
 *
 * @since 0.1.0
 * @category models
 */
export interface PluginReport {
  readonly sections?: ReadonlyArray<Section> | undefined
  readonly problems?: ReadonlyArray<Problem> | undefined
  /** If the plugin keeps content. */
  readonly content?: ContentStatus | undefined
  /** If the plugin serves the view: its address. */
  readonly dashboard?: string | undefined
  /** Called only if metrics are requested, for the same state. Metrics of Effect's `Metric` are read without it. */
  readonly metrics?: (() => ReadonlyArray<MetricPair.MetricPair.Untyped>) | undefined
  /** Codes of problems whose begin and end the plugin logs itself. The controller logs all other problems. */
  readonly logs?: ReadonlyArray<string> | undefined
  /**
   * Called for an earlier problem that is not found any more: why the plugin no longer looks for it, or `undefined` if it
   * looked. Then the problem is over, as are all problems without this function.
   */
  readonly unwatched?: ((problem: Problem) => string | undefined) | undefined
  /**
   * Problems from before the restart, if the plugin keeps them. Each is listed until its plugin has judged it; after ten
   * minutes, it is no longer watched.
   */
  readonly earlier?: ReadonlyArray<OwnedProblem> | undefined
}

/**
 * A problem, and the name of the plugin that has found it.
 *
 * @since 0.1.0
 * @category models
 */
export interface OwnedProblem {
  readonly plugin: string
  readonly problem: Problem
}

/**
 * The state that contains the slice, the screens and players as judged by it, and the time in milliseconds since
 * 1970: the time at which the live fields of the plugin were read.
 *
 * @since 0.1.0
 * @category models
 */
export interface ReportContext {
  readonly state: GlobalState
  readonly screens: ReadonlyArray<ScreenStatus>
  readonly players: ReadonlyArray<PlayerStatus>
  readonly now: number
}

/**
 * Makes a report of a slice, which is `undefined` if nothing was set or read yet. Pure.
 *
 * @since 0.1.0
 * @category models
 */
export type MakeReport = (slice: unknown, context: ReportContext) => PluginReport

/**
 * What a plugin shows in the state and the status.
 *
 * @since 0.1.0
 * @category models
 */
export interface PluginRegistration<S = unknown> {
  readonly name: string
  /** The slice at first: JSON. `update` changes it. Left out: nothing, until `update` or `live` gives something. */
  readonly slice?: S | undefined
  /**
   * Fields (counts, progress) that are read with every state and added to the slice; `_version` does not grow by them.
   * Each read gives new objects: an object that is changed in place counts as unchanged. While a read fails, or takes
   * longer than a second, the fields stay as they were last, with the time of that reading; after ten seconds, that is
   * the problem `state:unread`. A read that hangs is not begun again. It must not read the state, which waits for it.
   */
  readonly live?: Effect.Effect<object, unknown> | undefined
  /**
   * Called for every view. If it throws, the last report stays, and that is the problem `state:unread`. Left out: the
   * `problems` of the slice.
   */
  readonly report?: MakeReport | undefined
}

/**
 * A plugin in the state.
 *
 * @since 0.1.0
 * @category models
 */
export interface RegisteredPlugin<S = unknown> {
  /** Replaces the slice by the result of `f`, which gets `undefined` if there is none. `_version` grows by one. */
  readonly update: (f: (slice: S | undefined) => S) => Effect.Effect<void>
}

/**
 * The state at one time, with its view and its metrics.
 *
 * @since 0.1.0
 * @category models
 */
export interface ControllerSnapshot {
  readonly state: GlobalState
  readonly view: View
  readonly metrics: () => ReadonlyArray<MetricPair.MetricPair.Untyped>
  /** Codes of problems that are logged where they are found. */
  readonly logs: ReadonlySet<string>
  /** The problems with the plugins that have found them. */
  readonly owned: ReadonlyArray<OwnedProblem>
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
    readonly read: Effect.Effect<ControllerSnapshot>

    /** The slices, with their live fields, and the current problems. */
    readonly state: Effect.Effect<GlobalState>

    /** All sections by `order`; at equal order, as their plugins were registered. */
    readonly status: Effect.Effect<StatusSnapshot>

    /**
     * Registers a plugin until the scope ends, once for each plugin. When the scope ends, everything of it goes, and
     * its problems are no longer watched.
     */
    readonly register: <S = unknown>(
      plugin: PluginRegistration<S>
    ) => Effect.Effect<RegisteredPlugin<S>, never, Scope.Scope>

    /** Changes the slice with this name of a program that is no plugin: it is registered until the controller ends. */
    readonly updateSlice: (name: string, f: (slice: unknown) => unknown) => Effect.Effect<void>
  }
>() {}
