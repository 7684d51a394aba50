/**
 * What the controller says of itself: the global state, for programs, and the status, for people.
 *
 * It owns the assembly of both. Their parts belong to the plugins: each has a slice of the state and may add
 * sections to the status.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"

/** `task` runs one command and ends; `persistent` runs until it is stopped. */
export type Mode = "task" | "persistent"

/** The body of `GET /state`. No secret is ever in it. */
export interface GlobalState {
  readonly system: {
    /** ISO 8601, UTC. */
    readonly startTime: string
    readonly mode: Mode
  }
  readonly plugins: Readonly<Record<string, unknown>>
  /** Grows by one with every change. */
  readonly _version: number
}

export type Tone = "ok" | "warn" | "error" | "neutral"

export type Row =
  | { readonly type: "kv"; readonly label: string; readonly value: string; readonly tone?: Tone }
  | { readonly type: "list"; readonly label: string; readonly items: ReadonlyArray<Row> }
  | { readonly type: "text"; readonly text: string; readonly tone?: Tone }

export interface Section {
  readonly name: string
  /** Lower comes first. Default 50. */
  readonly order?: number
  readonly title: string
  readonly rows: ReadonlyArray<Row>
}

/** The body of `GET /status`, and what the status command prints. */
export interface StatusSnapshot {
  readonly header: {
    /** ISO 8601, UTC. */
    readonly startTime: string
    readonly uptimeMs: number
    readonly mode: Mode
  }
  readonly sections: ReadonlyArray<Section>
}

/** A section whose rows are built anew for every snapshot. */
export interface SectionSource<E = unknown> extends Omit<Section, "rows"> {
  readonly rows: Effect.Effect<ReadonlyArray<Row>, E>
}

export class ControllerState extends Context.Tag("vitrine/ControllerState")<
  ControllerState,
  {
    readonly mode: Mode

    readonly state: Effect.Effect<GlobalState>

    /** Replaces a plugin's slice of the state by what `f` makes of it; the first time, of `undefined`. */
    readonly updateSlice: (plugin: string, f: (slice: unknown) => unknown) => Effect.Effect<void>

    /** All sections by `order`, then in the order they were added. One that fails is left out and logged. */
    readonly status: Effect.Effect<StatusSnapshot>

    /** Shows a section in the status until the scope ends. */
    readonly addSection: (section: SectionSource) => Effect.Effect<void, never, Scope.Scope>
  }
>() {}
