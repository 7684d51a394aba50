/**
 * Which version is active, in the state and announced.
 *
 * Fetches and commands change it concurrently. What is reported is what the manifest says at that moment, one report at a
 * time, so that the last version that is announced is the one that the manifest names.
 */
import { isDeepStrictEqual } from "node:util"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Ref from "effect/Ref"
import type { ContentState } from "../../services/Slices.ts"
import { type Manifest, VersionStore } from "../../services/VersionStore.ts"
import type { ContentSlice } from "./contentState.ts"
import type { Report } from "./report.ts"

export interface ActiveVersion {
  /**
   * Reports the active version, and gives the manifest as it is now; where that cannot be read, as it was when it was last
   * written. It is announced when the controller is ready or the bus was emptied, and when it is not the one announced last:
   * which of several steps at the same time has changed it, the steps cannot know.
   */
  readonly report: (
    written: Manifest,
    occasion: "ready" | "promoted" | "unchanged"
  ) => Effect.Effect<Manifest>
}

export const makeActiveVersion = Effect.fnUntraced(function* (report: Report, slice: ContentSlice) {
  const store = yield* VersionStore
  const oneAtATime = yield* Effect.makeSemaphore(1)
  const announced = yield* Ref.make("")

  const reportNow: ActiveVersion["report"] = Effect.fnUntraced(function* (written, occasion) {
    const manifest = yield* store.manifest.pipe(
      Effect.map((reading) => (reading.status === "ok" ? reading.manifest : written)),
      Effect.orElseSucceed(() => written)
    )
    const { generatedAt, held, released, versionId, versionPath } = manifest
    const now = new Date(yield* Clock.currentTimeMillis).toISOString()
    const withActive = ({
      held: _held,
      released: _released,
      activeSince,
      ...before
    }: ContentState): ContentState => ({
      ...before,
      activeSince: before.versionId === versionId && activeSince !== undefined ? activeSince : now,
      versionId,
      generatedAt,
      ...(held === undefined ? {} : { held }),
      ...(released === undefined ? {} : { released })
    })
    const before = yield* slice.get
    if (!isDeepStrictEqual(withActive(before), before)) {
      yield* slice.update(withActive)
    }
    const last = yield* Ref.get(announced)
    const isNew = last !== versionId && (occasion === "promoted" || last !== "")
    if (occasion === "ready" || isNew) {
      yield* Ref.set(announced, versionId)
      yield* report({ name: "content:version:promoted", payload: { versionId, versionPath, generatedAt } })
    }
    return manifest
  }, oneAtATime.withPermits(1))
  return { report: reportNow } satisfies ActiveVersion
})
