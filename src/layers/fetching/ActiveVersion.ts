/**
 * Reports which version is active, in the state and by events.
 */

import { isDeepStrictEqual } from "node:util"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Ref from "effect/Ref"
import * as Stream from "effect/Stream"
import * as SubscriptionRef from "effect/SubscriptionRef"
import { EventBus } from "../../services/EventBus.ts"
import type { ContentState } from "../../services/Slices.ts"
import {
  type Hold,
  type HoldOutcome,
  type Manifest,
  VersionStore,
  type VersionStoreError
} from "../../services/VersionStore.ts"
import { activeIn } from "../versions/ManifestFile.ts"
import { type ContentSlice, countPromotion, countVersions, keptInVersion, timestamp } from "./contentState.ts"
import type { Report } from "./Provider.ts"
import { activeText } from "./pluginReport.ts"

/**
 * Fetches and commands change the active version concurrently. Each report reads the manifest, one report at a time, so
 * that the version announced last is the version that the manifest names.
 */
export class ActiveVersion extends Context.Tag("vitrine/ActiveVersion")<
  ActiveVersion,
  {
    /**
     * Reports the active version, and gives the present manifest, or `written` if the manifest cannot be read.
     * Announces the version if it differs from the version announced last, or with `again`: of several concurrent
     * steps, none can know which step changed the version.
     */
    readonly report: (written: Manifest, again?: boolean) => Effect.Effect<Manifest>

    /** The hold as last reported; `None` without a hold. */
    readonly held: SubscriptionRef.SubscriptionRef<Option.Option<Hold>>

    /** Runs a step that may activate another version, and reports the result, even if the caller no longer waits. */
    readonly change: <E>(
      step: Effect.Effect<Manifest, E>
    ) => Effect.Effect<HoldOutcome, E | VersionStoreError>
  }
>() {}

/** Reports by events and in the slice of the state. */
export const make = Effect.fnUntraced(function* (report: Report, slice: ContentSlice) {
  const { manifest: current } = yield* VersionStore
  const read = Effect.map(Effect.option(current), Option.flatMap(activeIn))
  const oneAtATime = yield* Effect.makeSemaphore(1)
  const held = yield* SubscriptionRef.make(Option.none<Hold>())
  const found = yield* read
  const announced = yield* Ref.make(Option.map(found, ({ versionId }) => versionId))
  if (Option.isSome(found)) yield* slice.note(withActive(found.value, yield* timestamp))

  const reportNow = Effect.fnUntraced(function* (written: Manifest, again = false) {
    const manifest = Option.getOrElse(yield* read, () => written)
    yield* SubscriptionRef.set(held, Option.fromNullable(manifest.held))
    const { generatedAt, versionId, versionPath } = manifest
    const now = yield* timestamp
    const before = yield* slice.get
    if (!isDeepStrictEqual(withActive(manifest, now)(before), before)) {
      yield* slice.update(withActive(manifest, now))
    }
    const isNew = !Option.contains(yield* Ref.getAndSet(announced, Option.some(versionId)), versionId)
    yield* isNew ? countPromotion : Effect.void
    if (isNew || again) {
      yield* report({ name: "content:version:promoted", payload: { versionId, versionPath, generatedAt } })
    }
    return manifest
  }, oneAtATime.withPermits(1))

  return yield* reportedBy(reportNow, held)
})

const withActive =
  ({ generatedAt, held, released, versionId }: Manifest, now: string) =>
  ({ activeSince, ...before }: ContentState): ContentState => ({
    ...before,
    activeSince: before.versionId === versionId && activeSince !== undefined ? activeSince : now,
    versionId,
    generatedAt,
    held,
    released
  })

const reportedBy = Effect.fnUntraced(function* (
  report: ActiveVersion["Type"]["report"],
  held: ActiveVersion["Type"]["held"]
) {
  const store = yield* VersionStore
  const scope = yield* Effect.scope
  return ActiveVersion.of({
    report,
    held,
    change: (step) =>
      Effect.gen(function* () {
        const before = activeIn(yield* store.manifest)
        const after = yield* step
        const changed = !Option.exists(before, ({ versionId }) => versionId === after.versionId)
        const { held, versionId } = yield* report(after)
        yield* logActive(versionId, held)
        return { versionId, changed, held, ...(yield* keptInVersion(store, versionId)) }
      }).pipe(Effect.forkIn(scope), Effect.flatMap(Fiber.join))
  })
})

/** Notifies nobody: for use without a running controller. */
export const silent = Effect.flatMap(SubscriptionRef.make(Option.none<Hold>()), (held) =>
  reportedBy((written) => Effect.succeed(written), held)
)

const logActive = (versionId: string, held: Manifest["held"]) =>
  Effect.logInfo(`Active version ${activeText(versionId, held)}`).pipe(
    Effect.annotateLogs("version", versionId)
  )

/** Announces the active version when all listeners are there. */
export const announce = Effect.gen(function* () {
  const store = yield* VersionStore
  const { report } = yield* ActiveVersion
  const current = yield* store.manifest
  if (current.status === "ok") {
    const { held, versionId } = yield* report(current.manifest, true)
    yield* logActive(versionId, held)
  } else if (current.status === "invalid") {
    yield* Effect.logWarning(`${current.message}. The next fetch makes a new one.`)
  }
  yield* countVersions(store)
}).pipe(Effect.catchAll((error) => Effect.logWarning(error.message)))

/** Announces the active version again whenever the bus was emptied; never ends. */
export const announceAgain = Effect.gen(function* () {
  const store = yield* VersionStore
  const { report } = yield* ActiveVersion
  // A bus from an untyped configuration may have no `emptied`.
  const { emptied = Stream.empty } = yield* EventBus
  yield* Stream.runForEach(emptied, () =>
    store.manifest.pipe(
      Effect.flatMap((current) =>
        Effect.transposeMapOption(activeIn(current), (manifest) => report(manifest, true))
      ),
      Effect.catchAll((error) => Effect.logWarning(error.message))
    )
  )
})
