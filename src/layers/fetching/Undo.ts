/**
 * Goes back to a version on disk, holds the active version, releases and resumes: the actions of the commands. Verifies
 * a version before it is activated, so that no damaged version is. A hold that has an end is resumed at that time, or
 * when the controller runs again after it.
 */
import { isDeepStrictEqual } from "node:util"
import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import type * as DateTime from "effect/DateTime"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import { momentOf } from "../../internal/moment.ts"
import { printableLine } from "../../internal/printable.ts"
import { withLocalTimes } from "../../internal/readable.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import {
  CannotRollBack,
  type Hold,
  type HoldRequest,
  InvalidHoldEnd,
  VersionStore,
  type VersionSummary,
  type VersionsReport
} from "../../services/VersionStore.ts"
import { activeIn } from "../versions/ManifestFile.ts"
import { oldSince } from "../versions/sourceNotes.ts"
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
    const end = until === undefined ? undefined : yield* timeOf(until, zone)
    return yield* (yield* ActiveVersion).change(store.hold({ ...request, until: end }))
  })

const timeOf = Effect.fnUntraced(function* (until: string, zone: DateTime.TimeZone) {
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
  return yield* (yield* ActiveVersion).change(store.release({ ...request, versionId }))
})

/** Runs `ended` when the hold has ended. */
export const resume = Effect.fnUntraced(function* (
  request: Parameters<VersionStore["Type"]["resume"]>[0],
  ended: Effect.Effect<void> = Effect.void
) {
  const store = yield* VersionStore
  yield* Effect.transposeMapOption(yield* waiting, store.verify)
  // A version that has come meanwhile needs no verification: it was just written.
  return yield* (yield* ActiveVersion).change(
    Effect.tap(store.resume(request), ({ held }) => (held === undefined ? ended : Effect.void))
  )
})

/** The longest sleep: the clock may be set, or the machine may sleep. */
const longestSleep = Duration.seconds(10)

/** The pause before the next try if the waiting version cannot be activated. */
const retryAfter = Duration.minutes(1)

/** Ends each hold in time; never ends itself. Without a hold that has an end, nothing runs. */
export const endHolds = Effect.gen(function* () {
  const { held } = yield* ActiveVersion
  const warning = makeWarnWhile(
    (reason) => `The hold cannot end, and Vitrine tries again each minute: ${reason}`
  )

  /** Ends the hold if it is over, and gives whether it goes on. */
  const step = Effect.fnUntraced(function* ({ until = "" }: Hold) {
    const now = yield* Clock.currentTimeMillis
    const remaining = Date.parse(until) - now
    if (remaining > 0) {
      return yield* Effect.as(Effect.sleep(Duration.min(remaining, longestSleep)), true)
    }
    const ended = Effect.logInfo(withLocalTimes(`The hold until ${until} has ended`, now))
    return yield* resume({ dueAt: now }, ended).pipe(
      Effect.zipRight(Effect.as(warning.works, false)),
      Effect.catchAll(({ message }) =>
        Effect.as(Effect.zipRight(warning.fails(message), Effect.sleep(retryAfter)), true)
      )
    )
  })

  yield* held.changes.pipe(
    // Each fetch reports the hold again: a verification that takes longer than the pause between fetches must go on.
    Stream.changesWith((before, now) => isDeepStrictEqual(endOf(before), endOf(now))),
    Stream.flatMap(
      Option.match({
        onNone: () => Stream.empty,
        onSome: (hold) =>
          hold.until === undefined
            ? Stream.empty
            : Stream.fromEffect(Effect.repeat(step(hold), { while: (goesOn) => goesOn }))
      }),
      { switch: true }
    ),
    Stream.runDrain
  )
})

const endOf = Option.map(({ until }: Hold) => until)

/** All versions on disk, with summaries. */
export const versions = Effect.gen(function* () {
  const store = yield* VersionStore
  const active = Option.getOrUndefined(yield* readActive)
  const versions = yield* Effect.forEach(yield* store.versions, (version) =>
    store.summarize(version.versionId).pipe(
      // The version was removed meanwhile.
      Effect.catchTag("vitrine/VersionNotFound", () => Effect.succeedNone),
      Effect.zipWith(oldSince(store, version.versionId), (summary, since) => ({
        ...version,
        ...Option.getOrUndefined(Option.map(summary, withOld(since)))
      }))
    )
  )
  const { held, released } = active ?? {}
  return { held, released, versions } satisfies VersionsReport
})

/** Names the sources that are old now. */
const withOld =
  (since: Effect.Effect.Success<ReturnType<typeof oldSince>>) =>
  ({ sources, ...summary }: VersionSummary): VersionSummary => ({
    ...summary,
    sources: sources.map(({ keptSince, ...source }) => ({
      ...source,
      keptSince: since({ keptSince, sourceId: source.sourceId })
    }))
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
