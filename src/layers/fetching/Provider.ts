/**
 * What makes the versions of a content: sources that are fetched, or the versions of another controller.
 */
import type * as Effect from "effect/Effect"
import type * as Stream from "effect/Stream"
import type { ContentCounts } from "../../internal/contentCounts.ts"
import type { FetchError } from "../../services/Content.ts"
import type { ContentCheck } from "../../services/ContentCheck.ts"
import type { ContentEvent } from "../../services/ContentEvents.ts"
import type { ContentSample, NoSuchSource } from "../../services/ContentSample.ts"
import type { ContentSource, Unknown } from "../../services/ContentSource.ts"
import type { ContentState, SourceState } from "../../services/Slices.ts"
import type { KeptSource, Promotion } from "../../services/VersionStore.ts"
import type { SourceNotes } from "../versions/sourceNotes.ts"

export type Report = (event: ContentEvent) => Effect.Effect<void>

/** Makes versions. Does not own when versions are made, nor how this is reported: the content does. */
export interface Provider {
  /** The ids of the sources that are known before the first fetch. */
  readonly sourceIds: ReadonlyArray<string>

  /** Makes the newest content the latest version, if it differs. Reports the steps source by source. */
  readonly fetch: Effect.Effect<Fetched, FetchError>

  /**
   * A cheap check before each fetch, so that only new content is fetched. Publishes no events and writes nothing.
   * Without `poll`, each tick fetches.
   */
  readonly poll?: Effect.Effect<PollResult, FetchError> | undefined

  /** Emits when there may be something new before the next tick. */
  readonly changes?: Stream.Stream<void> | undefined

  /** Finds out what `fetch` would change. Reports and promotes nothing. */
  readonly check?: Effect.Effect<ContentCheck, FetchError> | undefined

  /** Finds out what one source would save. Reports and promotes nothing. */
  readonly sample?:
    | ((sourceId: string) => Effect.Effect<ContentSample, FetchError | NoSuchSource>)
    | undefined

  /** Accepts warnings of the sources that can do so, by their ids. */
  readonly accept?: Readonly<Record<string, NonNullable<ContentSource["accept"]>>> | undefined

  /** As `fetch`, only for the changes that polls found. Without it, `fetch` runs instead. */
  readonly fetchNew?: Effect.Effect<Fetched, FetchError> | undefined

  /** Whether a source that failed while others did not is retried soon, as after a fetch that failed. */
  readonly isRetried?: Effect.Effect<boolean> | undefined

  /** The fields of the state about a hub. */
  readonly hub?: Effect.Effect<Pick<ContentState, "copiedFrom" | "reports">> | undefined

  /** The notes about the sources in the latest version. */
  readonly notes?: Effect.Effect<SourceNotes>

  /** The data that sources report in the state, by their ids. */
  readonly sourceData?: Effect.Effect<Readonly<Record<string, NonNullable<SourceState["data"]>>>> | undefined
}

/** `same`: no change since the last fetch. */
export type PollResult = "new" | "same" | Unknown

/** The outcome of a fetch, with counts of the version. */
export interface Fetched extends Promotion, ContentCounts {
  /** The sources that failed while others did not. */
  readonly kept?: ReadonlyArray<KeptSource> | undefined
}

export type MakeProvider<E = never, R = never> = (report: Report) => Effect.Effect<Provider, E, R>
