/**
 * The content of a controller: fetched from its sources or copied from another controller, promoted as a version,
 * announced.
 *
 * Over a transport, use the commands `content.fetch`, `content.ack` and `content.manifest.read`.
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { OptionalErrorChain } from "../internal/SerializedError.ts"
import type { FetchOutcome } from "./ContentEvents.ts"
import type { SourceError } from "./SourceError.ts"
import type { VersionStoreError } from "./VersionStore.ts"

/**
 * Why a fetch failed: a source, the copying from another controller, or the disk.
 *
 * @since 0.1.0
 * @category models
 */
export type FetchError = SourceError | CopyFailed | VersionStoreError

/**
 * The versions of another controller could not be copied.
 *
 * @since 0.1.0
 * @category errors
 */
export class CopyFailed extends Schema.TaggedError<CopyFailed>()("vitrine/CopyFailed", {
  /** The address, without credentials. */
  from: Schema.String,
  /** What happened and, if it is known, what to do. */
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
    /** Fetches now, or joins the running fetch. The fetch goes on if its callers stop waiting. */
    readonly fetch: Effect.Effect<FetchOutcome, FetchError>

    /**
     * Announces the active version, then fetches in the background, at once and as often as the options say. Call it
     * once, after all listeners have subscribed. Does nothing in task mode.
     */
    readonly start: Effect.Effect<void>
  }
>() {}
