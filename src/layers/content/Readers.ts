/**
 * Versions that somebody reads, and which therefore are not swept: for two minutes from when that was last said, in memory
 * only. There is one entry for each version that was on disk in that time.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type { VersionId } from "../../services/VersionStore.ts"
import { now } from "./LeaseFile.ts"

export interface Readers {
  readonly keep: (versionId: VersionId) => Effect.Effect<void>
  /** The versions that are read. */
  readonly kept: Effect.Effect<ReadonlySet<VersionId>>
}

/** In milliseconds. */
const lifetime = Duration.toMillis("2 minutes")

export const make = (): Readers => {
  /** By the monotonic clock, in milliseconds. */
  const ends = new Map<VersionId, number>()
  return {
    keep: (versionId) =>
      Effect.map(now, ({ monotonic }) => {
        ends.set(versionId, monotonic + lifetime)
      }),
    kept: Effect.map(now, ({ monotonic }) => {
      for (const [versionId, end] of ends) {
        if (end <= monotonic) ends.delete(versionId)
      }
      return new Set(ends.keys())
    })
  }
}
