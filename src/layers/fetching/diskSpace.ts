/**
 * Keeps room on the disk for another version, and measures how much there is.
 *
 * Decides when versions and leases are swept: after each fetch, at ticks that fetch nothing (nothing is new, or the hub
 * is away), and when the disk is full. Has no timer. The store of versions decides what is removed, and restores a lost
 * manifest.
 */
import { access, constants, statfs } from "node:fs/promises"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import { isDiskFull } from "../../files/systemError.ts"
import { monotonicMillis } from "../../internal/monotonicMillis.ts"
import { errorCode } from "../../internal/serializeError.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import type { FetchError } from "../../services/Content.ts"
import { VersionStore } from "../../services/VersionStore.ts"
import { activeIn } from "../versions/ManifestFile.ts"
import { ActiveVersion } from "./ActiveVersion.ts"
import { type ContentSlice, countVersions } from "./contentState.ts"

/** The least time between a sweep and a tick that sweeps without a fetch; a lost manifest does not wait for it. */
const pause = Duration.minutes(5)

/** `before` runs before each sweep. */
export const makeDiskSpace = Effect.fnUntraced(function* (
  before: Effect.Effect<unknown>,
  slice: ContentSlice
) {
  const store = yield* VersionStore
  const activeVersion = yield* ActiveVersion
  const sweptAt = yield* Ref.make(yield* monotonicMillis)
  const hadManifest = yield* Ref.make(false)
  const warning = makeWarnWhile((message) => message)

  const sweep = Effect.gen(function* () {
    yield* Ref.set(sweptAt, yield* monotonicMillis)
    yield* before
    const removed = yield* store.sweep
    if (removed.length > 0) {
      yield* Effect.logDebug(`Removed old versions: ${removed.join(", ")}`)
    }
    yield* countVersions(store)
    yield* warning.works
  }).pipe(Effect.catchAll(({ message }) => warning.fails(message)))

  const active = store.manifest.pipe(
    Effect.map(activeIn),
    Effect.orElse(() => Effect.succeedNone)
  )

  const measured = Effect.provideService(measure(slice), VersionStore, store)

  const sweepIfDue = Effect.gen(function* () {
    const isThere = Option.isSome(yield* active)
    const isLost = (yield* Ref.getAndSet(hadManifest, isThere)) && !isThere
    const isDue = (yield* monotonicMillis) - (yield* Ref.get(sweptAt)) >= Duration.toMillis(pause)
    if (isLost || isDue) {
      yield* sweep
      yield* measured
      // The restored manifest may name another version.
      yield* Effect.transposeMapOption(yield* active, (manifest) => activeVersion.report(manifest))
    }
  })

  const evict = Effect.fnUntraced(function* (error: FetchError) {
    const removed = yield* Effect.orElseSucceed(store.evict, () => [])
    return removed.length === 0
      ? yield* Effect.fail(error)
      : yield* Effect.logWarning(
          `The disk is full: removed versions that no screen shows (${removed.join(", ")}), fetching once more. ${error.message}`
        )
  })

  return {
    /** Sweeps, then measures the disk. A failed sweep is logged once until a sweep works again. */
    afterFetch: Effect.zipRight(sweep, measured),

    /** Sweeps if the last sweep is long ago, or the manifest is lost. */
    sweepIfDue,

    /** On a full disk, removes versions that no screen shows, and runs the fetch once more. */
    withRoom: <A>(fetch: Effect.Effect<A, FetchError>) =>
      Effect.catchIf(fetch, isDiskFull, (error) => Effect.zipRight(evict(error), fetch))
  }
})

/**
 * Notes in the slice how many bytes and files are free on the disk of the versions, and how many the active version
 * has, and whether the disk is read-only, as a failing memory card becomes. Notes nothing if this cannot be read.
 */
const measure = (slice: ContentSlice) =>
  Effect.gen(function* () {
    const { versionId } = yield* slice.get
    if (versionId === undefined) {
      return
    }
    const store = yield* VersionStore
    const { bavail, bsize, ffree, files } = yield* Effect.tryPromise(() => statfs(store.directory))
    const isReadOnly = yield* Effect.promise(() =>
      access(store.directory, constants.W_OK).then(
        () => false,
        (error) => errorCode(error) === "EROFS"
      )
    )
    const found = yield* store.summarize(versionId)
    const sources = Option.match(found, { onNone: () => [], onSome: ({ sources }) => sources })
    const disk = {
      versionBytes: sources.reduce((sum, { bytes }) => sum + bytes, 0),
      versionFiles: sources.reduce((sum, { files }) => sum + files, 0),
      freeBytes: bavail * bsize,
      // Some file systems make inodes on demand, and report 0 of them.
      freeFiles: files === 0 ? undefined : ffree,
      isReadOnly
    }
    yield* slice.note((before) => ({ ...before, disk }))
  }).pipe(Effect.ignore)
