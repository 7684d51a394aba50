/**
 * Goes back to a version on disk, holds the active version, releases and resumes: the actions of the commands. Verifies
 * a version before it is activated, so that no damaged version is.
 */
import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import type * as DateTime from "effect/DateTime"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { momentOf } from "../../internal/moment.ts"
import { printableLine } from "../../internal/printable.ts"
import {
  activeIn,
  CannotRollBack,
  type HoldRequest,
  InvalidHoldEnd,
  VersionStore,
  type VersionsReport
} from "../../services/VersionStore.ts"
import { ActiveVersion } from "./ActiveVersion.ts"

export const rollback = Effect.fnUntraced(
  function* ({ versionId: given, ...request }: HoldRequest) {
    const store = yield* VersionStore
    const { change } = yield* ActiveVersion
    const versionId = given ?? (yield* olderVersion)
    yield* store.verify(versionId)
    return yield* change(store.hold({ ...request, versionId }))
  },
  Effect.catchTag("vitrine/VersionNotFound", ({ versionId }) =>
    cannotRollBack(`there is no version ${JSON.stringify(versionId)}`)
  )
)

/** The longest hold with an end, in milliseconds. */
const maxHoldMs = 366 * 86_400_000

/** A time in `until` without an offset is in `zone`. */
export const hold = (zone: DateTime.TimeZone) =>
  Effect.fnUntraced(function* ({ until, ...request }: Pick<HoldRequest, "by" | "until">) {
    const store = yield* VersionStore
    const end = until === undefined ? {} : { until: yield* endOf(until, zone) }
    return yield* (yield* ActiveVersion).change(store.hold({ ...request, ...end }))
  })

const endOf = Effect.fnUntraced(function* (until: string, zone: DateTime.TimeZone) {
  const now = yield* Clock.currentTimeMillis
  return yield* Option.match(
    Option.filter(momentOf(until, now, zone), (end) => now < end && end <= now + maxHoldMs),
    {
      onNone: () => new InvalidHoldEnd({ until: printableLine(until) }),
      onSome: (end) => Effect.succeed(new Date(end).toISOString())
    }
  )
})

export const release = Effect.fnUntraced(function* (request: HoldRequest) {
  const store = yield* VersionStore
  const versionId = request.versionId ?? Option.getOrUndefined(yield* waiting)
  yield* versionId === undefined ? Effect.void : store.verify(versionId)
  const chosen = versionId === undefined ? request : { ...request, versionId }
  return yield* (yield* ActiveVersion).change(store.release(chosen))
})

export const resume = Effect.fnUntraced(function* (request: Parameters<VersionStore["Type"]["resume"]>[0]) {
  const store = yield* VersionStore
  yield* Effect.transposeMapOption(yield* waiting, store.verify)
  return yield* (yield* ActiveVersion).change(store.resume(request))
})

/** All versions on disk, with summaries. */
export const versions = Effect.gen(function* () {
  const store = yield* VersionStore
  const active = Option.getOrUndefined(yield* readActive)
  const versions = yield* Effect.forEach(yield* store.versions, (version) =>
    store.summarize(version.versionId).pipe(
      // The version was removed meanwhile.
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

const readActive = Effect.flatMap(VersionStore, ({ manifest }) => Effect.map(manifest, activeIn))

const waiting = Effect.map(
  readActive,
  Option.flatMapNullable(({ held }) => held?.waiting)
)

const versionIds = Effect.gen(function* () {
  const versions = yield* (yield* VersionStore).versions
  return versions.map(({ versionId }) => versionId)
})

/** The newest version older than the active one. */
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

const cannotRollBack = (detail: string) =>
  Effect.flatMap(versionIds, (versions) => new CannotRollBack({ detail, versions }))
