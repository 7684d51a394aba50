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
import type { VersionStoreDiskOptions } from "./VersionStoreDiskOptions.ts"

/** The latest version: the active one, or the one that waits while that is held. */
export const latestOf = ({ held, versionId }: Manifest): VersionId => held?.waiting ?? versionId

/**
 * Each step writes the manifest once, and gives it. `wholeVersion` is that of a version on disk, not held; it fails where
 * the version is not whole. `release` says whether new versions wait `by hand` of somebody.
 */
export const makeHolding = <R>(
  { active, file, write }: ManifestFile,
  wholeVersion: (versionId: string) => Effect.Effect<Manifest, VersionStoreError | VersionNotFound, R>,
  release: VersionStoreDiskOptions["release"]
) => {
  const written = (manifest: Manifest) => Effect.as(write(manifest), manifest)

  const readActive = (action: string) =>
    Effect.flatMap(
      active,
      Effect.mapError(() => noneActive(action, file))
    )

  /** What is in force: the hold of somebody, or else the rule. */
  const holdOf = ({ held }: Manifest) =>
    held !== undefined && (held.byRule === undefined || release === "by hand")
      ? Effect.succeedSome(held)
      : Effect.map(now, (since) =>
          release === "by hand" ? Option.some<Hold>({ since, byRule: true }) : Option.none()
        )

  /** Makes a version that is on disk the latest one: it is the active one then, or waits. */
  const writeLatest = Effect.fnUntraced(function* (latest: Manifest) {
    const before = yield* active
    const hold = yield* Effect.transposeMapOption(before, holdOf)
    return yield* written(
      Option.match(Option.all([before, Option.flatten(hold)]), {
        onNone: () => latest,
        onSome: ([before, hold]) => withHold(before, hold, latest.versionId)
      })
    )
  })

  const hold = Effect.fnUntraced(function* ({ by, versionId }: HoldRequest) {
    const before = yield* active
    const isActive = Option.exists(before, (manifest) => manifest.versionId === versionId)
    const next = yield* versionId === undefined || isActive
      ? readActive("hold the version of")
      : wholeVersion(versionId)
    if (next.held !== undefined && next.held.byRule === undefined) {
      return next
    }
    const latest = Option.match(before, { onNone: () => next.versionId, onSome: latestOf })
    return yield* written(withHold(next, { since: yield* now, ...named(by) }, latest))
  })

  const releaseOne = Effect.fnUntraced(function* ({ by, versionId }: HoldRequest) {
    const before = yield* readActive("release a version of")
    const chosen = versionId ?? latestOf(before)
    if (chosen === before.versionId) {
      return before
    }
    const next = yield* wholeVersion(chosen)
    const { lost, ...hold } =
      before.held ??
      (yield* Effect.flatMap(
        holdOf(before),
        Effect.mapError(() => noneHeld(file))
      ))
    const released = { at: yield* now, ...named(by) }
    return yield* written(withHold({ ...next, released }, hold, latestOf(before)))
  })

  const resume = Effect.fnUntraced(function* ({ by }: Pick<HoldRequest, "by">) {
    const { held, ...active } = yield* readActive("resume the versions of")
    if (held === undefined) {
      return active
    }
    if (held.waiting === undefined) {
      return yield* written(active)
    }
    const next = yield* wholeVersion(held.waiting)
    return yield* written({ ...next, released: { at: yield* now, ...named(by) } })
  })

  return { writeLatest, hold, release: releaseOne, resume }
}

/** By the rule, nothing is held where nothing waits. */
export const withHold = (
  { held: _, ...active }: Manifest,
  { waiting, ...hold }: Hold,
  latest: VersionId
): Manifest =>
  latest !== active.versionId
    ? { ...active, held: { ...hold, waiting: latest } }
    : hold.byRule === undefined
      ? { ...active, held: hold }
      : active

/** In ISO 8601, UTC, with milliseconds. */
const now = Effect.map(Clock.currentTimeMillis, (now) => new Date(now).toISOString())

/** It may come from anywhere, and is shown. */
const named = (by = ""): Pick<Hold, "by"> => {
  const name = printableLine(by, maxName)
  return name === "" ? {} : { by: name }
}

/** In characters. */
const maxName = 64

const noneHeld = (place: string) =>
  new VersionStoreError({
    action: "release a version of",
    path: place,
    detail: 'no version is held. Go back to an older one with "rollback".'
  })

export const noneActive = (action: string, place: string) =>
  new VersionStoreError({ action, path: place, detail: "no version is active. Fetch the content first." })
