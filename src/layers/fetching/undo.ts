/**
 * Going back to a version that is on disk, holding the active one, releasing and resuming: what the commands do.
 */
import * as Array from "effect/Array"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import {
  CannotRollBack,
  type HoldOutcome,
  type HoldRequest,
  type Manifest,
  VersionStore,
  type VersionsReport
} from "../../services/VersionStore.ts"
import { countPromotion } from "./metrics.ts"
import { activeText } from "./pluginReading.ts"
import type { ActiveVersion } from "./reportActiveVersion.ts"

export interface Undo extends Effect.Effect.Success<ReturnType<typeof makeUndo>> {}

/** What is shown next is verified before, so that no damaged version is. */
export const makeUndo = Effect.fnUntraced(function* (activeVersion: ActiveVersion) {
  const store = yield* VersionStore
  const scope = yield* Effect.scope

  const readActive = Effect.map(store.manifest, (reading) =>
    reading.status === "ok" ? Option.some(reading.manifest) : Option.none()
  )

  /** It is reported also when its caller no longer waits. */
  const change = <E>(step: Effect.Effect<Manifest, E>) =>
    Effect.gen(function* () {
      const before = yield* readActive
      const after = yield* step
      const changed = !Option.exists(before, ({ versionId }) => versionId === after.versionId)
      const { held, versionId } = yield* activeVersion.report(after, changed ? "promoted" : "unchanged")
      yield* changed ? countPromotion : Effect.void
      yield* Effect.logInfo(`Active version ${activeText(versionId, held)}`).pipe(
        Effect.annotateLogs("version", versionId)
      )
      return { versionId, changed, ...(held === undefined ? {} : { held }) } satisfies HoldOutcome
    }).pipe(Effect.forkIn(scope), Effect.flatMap(Fiber.join))

  const versionIds = Effect.map(
    store.versions,
    Array.map(({ versionId }) => versionId)
  )

  const cannotRollBack = (detail: string) =>
    Effect.flatMap(versionIds, (versions) => new CannotRollBack({ detail, versions }))

  const waiting = Effect.map(
    readActive,
    Option.flatMapNullable(({ held }) => held?.waiting)
  )

  /** The newest version that is older than the active one. */
  const olderVersion = Effect.gen(function* () {
    const active = yield* readActive
    if (Option.isNone(active)) {
      return yield* cannotRollBack("no version is active")
    }
    const { versionId } = active.value
    const older = Array.findLast(yield* versionIds, (id) => id < versionId)
    return yield* Effect.catchTag(older, "NoSuchElementException", () =>
      cannotRollBack(`no version is older than the active one, ${versionId}`)
    )
  })

  return {
    rollback: ({ versionId: given, ...request }: HoldRequest) =>
      Effect.gen(function* () {
        const versionId = given ?? (yield* olderVersion)
        yield* store.verify(versionId)
        return yield* change(store.hold({ ...request, versionId }))
      }).pipe(
        Effect.catchTag("vitrine/VersionNotFound", ({ versionId }) =>
          cannotRollBack(`there is no version ${JSON.stringify(versionId)}`)
        )
      ),
    hold: (request: Pick<HoldRequest, "by">) => change(store.hold(request)),
    release: (request: HoldRequest) =>
      Effect.gen(function* () {
        const versionId = request.versionId ?? Option.getOrUndefined(yield* waiting)
        if (versionId === undefined) {
          return yield* change(store.release(request))
        }
        yield* store.verify(versionId)
        return yield* change(store.release({ ...request, versionId }))
      }),
    resume: (request: Pick<HoldRequest, "by">) =>
      Effect.gen(function* () {
        yield* Effect.transposeMapOption(yield* waiting, store.verify)
        return yield* change(store.resume(request))
      }),
    versions: Effect.gen(function* () {
      const active = Option.getOrUndefined(yield* readActive)
      const versions = yield* Effect.forEach(yield* store.versions, (version) =>
        store.summarize(version.versionId).pipe(
          // It was removed since.
          Effect.catchTag("vitrine/VersionNotFound", () => Effect.succeedNone),
          Effect.map((summary) => ({ ...version, ...Option.getOrUndefined(summary) }))
        )
      )
      return {
        ...(active?.held === undefined ? {} : { held: active.held }),
        ...(active?.released === undefined ? {} : { released: active.released }),
        versions
      } satisfies VersionsReport
    })
  }
})
