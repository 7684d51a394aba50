/**
 * What the state of a controller knows of its plugins, and the function that makes the view of it.
 */
import type { ControllerSnapshot, GlobalState, MakeReport } from "./ControllerState.ts"

/** Since when the fields of a plugin cannot be read, in milliseconds since 1970, for how long, and why if that is known. */
export interface Unread {
  readonly since: number
  readonly lastsMs: number
  readonly reason?: string | undefined
}

/** What is known of a plugin. */
export interface PluginFacts {
  readonly name: string
  readonly report: MakeReport | undefined
  /** The registered slice, without the live fields. */
  readonly slice: unknown
  /** The live fields that were read last. */
  readonly fields?: object | undefined
  /** When they were read, in milliseconds since 1970; missing if they were read now. */
  readonly readAt?: number | undefined
  readonly unread?: Unread | undefined
}

export interface ViewInput {
  /** In milliseconds since 1970. */
  readonly now: number
  readonly system: GlobalState["system"]
  readonly uptimeMs: number
  readonly version: number
  readonly plugins: ReadonlyArray<PluginFacts>
}

/** The view, and what to remember for the next one. */
export type MakeView<Remembered> = (
  input: ViewInput,
  before?: Remembered
) => { readonly snapshot: ControllerSnapshot; readonly remembered: Remembered }
