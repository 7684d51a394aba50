/**
 * The content of a controller: fetched from its sources or copied from another controller, promoted as a version,
 * announced.
 *
 * How it is asked for over a transport are the commands `content.fetch`, `content.ack` and `content.manifest.read`.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { OptionalErrorChain } from "../internal/SerializedError.ts"
import type { FetchOutcome } from "./ContentEvents.ts"
import type { SourceError } from "./SourceError.ts"
import type { VersionStoreError } from "./VersionStore.ts"

/** Why a fetch failed: a source, the copying from another controller, or the disk. */
export type FetchError = SourceError | CopyFailed | VersionStoreError

/** The versions of another controller could not be copied. */
export class CopyFailed extends Schema.TaggedError<CopyFailed>()("vitrine/CopyFailed", {
  /** The address, without credentials. */
  from: Schema.String,
  /** What happened and, where it is known, what to do. */
  detail: Schema.String,
  /** As of `SourceError`. */
  isTransient: Schema.Boolean,
  cause: OptionalErrorChain
}) {
  override get message() {
    return `Cannot copy from ${this.from}: ${this.detail}`
  }
}

export class Content extends Context.Tag("vitrine/Content")<
  Content,
  {
    /** Fetches now, or joins the fetch that runs. It goes on when no caller waits for it any more. */
    readonly fetch: Effect.Effect<FetchOutcome, FetchError>

    /**
     * Announces the active version, then fetches in the background, at once and as often as the options say. To be
     * run once, when everybody who listens is there. In task mode it does nothing.
     */
    readonly start: Effect.Effect<void>
  }
>() {}
