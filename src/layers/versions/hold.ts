/**
 * Which version the manifest names: the latest one, or one that is held while a later one waits.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { printableLine } from "../../internal/printable.ts"
import {
  type Hold,
  type HoldRequest,
  type Manifest,
  type VersionId,
  type VersionNotFound,
  VersionStoreError
} from "../../services/VersionStore.ts"
import type { ManifestFile } from "./ManifestFile.ts"

/** The latest version: the active one, or the one that waits while that is held. */
export const latestOf = ({ held, versionId }: Manifest): VersionId => held?.waiting ?? versionId

/**
 * Each step writes the manifest once, and gives it. `wholeVersion` is that of a version on disk, not held; it fails where
 * the version is not whole.
 */
export const makeHolding = <R>(
  { active, file, write }: ManifestFile,
  wholeVersion: (versionId: string) => Effect.Effect<Manifest, VersionStoreError | VersionNotFound, R>
) => {
  const written = (manifest: Manifest) => Effect.as(write(manifest), manifest)

  const readActive = (action: string) =>
    Effect.flatMap(
      active,
      Effect.mapError(() => noneActive(action, file))
    )

  /** Makes a version that is on disk the latest one: it is the active one then, or waits. */
  const writeLatest = (latest: Manifest) =>
    Effect.flatMap(active, (before) =>
      written(
        Option.match(before, {
          onNone: () => latest,
          onSome: ({ held, ...active }) =>
            held === undefined ? latest : withHold(active, held, latest.versionId)
        })
      )
    )

  const hold = Effect.fnUntraced(function* ({ by, versionId }: HoldRequest) {
    const before = yield* active
    const isActive = Option.exists(before, (manifest) => manifest.versionId === versionId)
    const next = yield* versionId === undefined || isActive
      ? readActive("hold the version of")
      : wholeVersion(versionId)
    if (next.held !== undefined) {
      return next
    }
    const since = new Date(yield* Clock.currentTimeMillis).toISOString()
    const latest = Option.match(before, { onNone: () => next.versionId, onSome: latestOf })
    return yield* written(withHold(next, { since, ...named(by) }, latest))
  })

  const resume = Effect.gen(function* () {
    const { held, ...next } = yield* readActive("resume the versions of")
    if (held === undefined) {
      return next
    }
    return yield* written(held.waiting === undefined ? next : yield* wholeVersion(held.waiting))
  })

  return { writeLatest, hold, resume }
}

export const withHold = (active: Manifest, { waiting, ...hold }: Hold, latest: VersionId): Manifest => ({
  ...active,
  held: { ...hold, ...(latest === active.versionId ? {} : { waiting: latest }) }
})

/** It may come from anywhere, and is shown. */
const named = (by = ""): Pick<Hold, "by"> => {
  const name = printableLine(by, maxName)
  return name === "" ? {} : { by: name }
}

/** In characters. */
const maxName = 64

export const noneActive = (action: string, place: string) =>
  new VersionStoreError({ action, path: place, detail: "no version is active. Fetch the content first." })
