/**
 * Where versions come from: sources that are fetched, or another controller that has the versions already.
 *
 * It makes versions. When that happens, and what is reported, belongs to the content.
 */

import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { ContentCounts } from "../../internal/contentCounts.ts"
import type { FetchError } from "../../services/Content.ts"
import type { ContentCheck } from "../../services/ContentCheck.ts"
import type { ContentSample, NoSuchSource } from "../../services/ContentSample.ts"
import type { ContentState, SourceState } from "../../services/Slices.ts"
import type { Promotion } from "../../services/VersionStore.ts"
import type { Report } from "./report.ts"

export interface Provider {
  /** The ids of the sources, as far as they are known before the first fetch. */
  readonly sourceIds: ReadonlyArray<string>

  /** Makes the newest content the latest version, unless it is. Reports what it does source by source. */
  readonly fetch: Effect.Effect<Fetched, FetchError>

  /**
   * A cheap question, asked at each tick, so that only what is new is fetched: it publishes no events and writes nothing.
   * Without it there is a fetch at each tick.
   */
  readonly poll?: Effect.Effect<PollResult, FetchError>

  /** Emits when it is worth to poll, or fetch, before the next tick. */
  readonly changes?: Stream.Stream<void>

  /** What `fetch` would change. It reports nothing and promotes nothing. */
  readonly check?: Effect.Effect<ContentCheck, FetchError>

  /** What a source would save, by its id. It reports nothing and promotes nothing. */
  readonly sample?: (sourceId: string) => Effect.Effect<ContentSample, FetchError | NoSuchSource>

  /** As `fetch`, of what the polls have found. Without it `fetch` stands for it. */
  readonly fetchNew?: Effect.Effect<Fetched, FetchError>

  /** What the state says of a hub. */
  readonly hub?: Effect.Effect<Pick<ContentState, "copiedFrom" | "reports">>

  /** What each source has to say of itself, by their ids, for the state. */
  readonly sourceData?: Effect.Effect<Readonly<Record<string, NonNullable<SourceState["data"]>>>>
}

/** `same` is what was fetched last; `nothing` means that there is nothing that could be fetched. */
export type PollResult = "new" | "same" | "nothing"

/** With how much the version has. */
export interface Fetched extends Promotion, ContentCounts {}

export type MakeProvider<E = never, R = never> = (report: Report) => Effect.Effect<Provider, E, R>
