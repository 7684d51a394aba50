/**
 * Versions that somebody reads: for two minutes from when that was last said, in memory only. There is one entry for each
 * version that was on disk in that time.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Order from "effect/Order"
import type { VersionId } from "../../services/VersionStore.ts"
import { now } from "./LeaseFile.ts"

export interface Readers {
  /** `still` says that somebody has been reading it for a while; that stays so until nobody does any more. */
  readonly keep: (versionId: VersionId, still: boolean) => Effect.Effect<void>
  /** The versions that are read: first those that still are, of these and of the others the newest first. */
  readonly kept: Effect.Effect<ReadonlyArray<VersionId>>
}

/** In milliseconds. */
const lifetime = Duration.toMillis("2 minutes")

interface Reading {
  readonly versionId: VersionId
  readonly still: boolean
  /** By the monotonic clock, in milliseconds. */
  readonly end: number
}

const byRank = Order.reverse(
  Order.struct({ still: Order.boolean, versionId: Order.string }) satisfies Order.Order<Reading>
)

export const make = (): Readers => {
  const readings = new Map<VersionId, Reading>()

  const current = Effect.map(now, ({ monotonic }) => {
    for (const { end, versionId } of readings.values()) {
      if (end <= monotonic) readings.delete(versionId)
    }
    return monotonic
  })

  return {
    keep: (versionId, still) =>
      Effect.map(current, (monotonic) => {
        readings.set(versionId, {
          versionId,
          still: still || readings.get(versionId)?.still === true,
          end: monotonic + lifetime
        })
      }),
    kept: Effect.map(current, () => [...readings.values()].sort(byRank).map(({ versionId }) => versionId))
  }
}
