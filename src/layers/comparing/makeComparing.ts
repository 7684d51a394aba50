/**
 * Who asks for differences of versions: the command `content.diff`, the report of all versions, and each announced
 * version.
 */

import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Array from "effect/Array"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"
import { withoutParentSpan } from "../../internal/background.ts"
import { printableLine } from "../../internal/printable.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import { CannotCompare, type ComparedVersion } from "../../services/ContentDiff.ts"
import { type VersionId, VersionStore, type VersionsReport } from "../../services/VersionStore.ts"
import { changeTexts } from "../status/contentText.ts"
import { activeIn, latestOf } from "../versions/ManifestFile.ts"
import { bytesToRead, comparePair, readPair } from "./compareVersions.ts"

/** The ids of the versions to compare. */
export interface DiffRequest {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** How many of the latest versions have their changes in the report. */
const maxReported = 3
/** How many bytes of tables are read for each of these versions, at most. */
const maxReportedBytes = 4 * 1024 * 1024

/** How long each comparison may take. All three together take less than the timeout of the dashboard. */
const timeout = "1500 millis"

/** Changes by the ids of two versions; `None` if a comparison takes too long. */
type Known = ReadonlyMap<string, Option.Option<ReadonlyArray<string>>>

/**
 * Runs one effect at a time, each in a fiber that can be interrupted. In an uninterruptible region, a Stream that waits
 * for its own fibers would never end, and would keep the turn.
 */
const makeTurns = Effect.map(
  Effect.makeSemaphore(1),
  ({ withPermits }) =>
    <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.disconnect(Effect.interruptible(withPermits(1)(effect)))
)

/** Compares one pair at a time. Memory keeps the changes of the three latest versions. */
export const makeComparing = Effect.gen(function* () {
  const store = yield* VersionStore
  const platform = yield* Effect.context<VersionStore | FileSystem.FileSystem | Path.Path>()
  const known = yield* Ref.make<Known>(new Map())

  const choose = Effect.fnUntraced(function* ({ from, to }: DiffRequest) {
    const versions = (yield* store.versions).map(({ versionId }) => versionId)
    const cannotCompare = (detail: string) => new CannotCompare({ detail, versions })
    const find = (given: string) =>
      Effect.mapError(
        Array.findFirst(versions, (id) => id === given),
        () => cannotCompare(`there is no version ${JSON.stringify(printableLine(given, 64))}`)
      )
    const active = activeIn(yield* store.manifest)
    const latest = Effect.mapBoth(active, {
      onFailure: () => cannotCompare("no version is active"),
      onSuccess: latestOf
    })
    /** The version before this one. */
    const before = (versionId: VersionId) =>
      active.pipe(
        Option.filter(({ held }) => held?.waiting === versionId),
        Option.map((manifest) => manifest.versionId),
        Option.orElse(() => Array.findLast(versions, (id) => id < versionId)),
        Effect.mapError(() => cannotCompare(`no version is older than ${versionId}`))
      )
    const later = yield* to === undefined ? latest : find(to)
    return [yield* from === undefined ? before(later) : find(from), later] as const
  })

  /** The changes between two versions; `None` if it takes too long to find them. */
  const changesOf = Effect.fnUntraced(function* (from: VersionId, to: VersionId) {
    const pair = yield* readPair(from, to)
    return bytesToRead(pair) > maxReportedBytes
      ? Option.none()
      : yield* Effect.timeoutOption(Effect.map(comparePair(pair), changeTexts), timeout)
  })

  /** The changes of the latest versions, by their ids. */
  const latestChanges = Effect.fnUntraced(function* (versions: VersionsReport["versions"]) {
    const before = yield* Ref.get(known)
    const pairs = Array.zip(versions, versions.slice(1)).slice(-maxReported)
    const found = yield* Effect.forEach(pairs, ([{ versionId: from }, { versionId: to }]) => {
      const key = `${from} ${to}`
      const cached = before.get(key)
      return Effect.option(
        Effect.map(cached === undefined ? changesOf(from, to) : Effect.succeed(cached), (changes) => ({
          key,
          to,
          changes
        }))
      )
    })
    yield* Ref.set(known, new Map(Array.getSomes(found).map(({ key, changes }) => [key, changes])))
    return new Map(
      Array.getSomes(found).flatMap(({ to, changes }) => Option.toArray(changes).map((texts) => [to, texts]))
    )
  })

  const oneDiff = yield* makeTurns
  const oneReport = yield* makeTurns

  return {
    /**
     * Compares two versions. Default: the latest version and the one before it; during a hold, the active and the
     * waiting version.
     */
    diff: (request: DiffRequest) =>
      choose(request).pipe(
        // Keeps both versions from being swept meanwhile.
        Effect.tap((versions) => Effect.forEach(versions, (versionId) => store.keep(versionId))),
        Effect.flatMap(([from, to]) => readPair(from, to)),
        Effect.flatMap(comparePair),
        oneDiff,
        Effect.provide(platform)
      ),

    /** Adds their changes to the latest versions of a report. */
    withChanges: ({ versions, ...report }: VersionsReport) =>
      latestChanges(versions).pipe(
        Effect.map(
          (changes): VersionsReport => ({
            ...report,
            versions: versions.map((version) => {
              const texts = changes.get(version.versionId)
              return texts === undefined ? version : { ...version, changes: texts }
            })
          })
        ),
        oneReport,
        Effect.provide(platform)
      )
  }
})

/**
 * Gives an effect to run for each announced version; the effect does not wait. If several versions are announced during
 * a comparison, only the last is compared next. Stops when the scope ends.
 */
export const compareAnnounced = Effect.fnUntraced(function* (
  report: (compared: ComparedVersion) => Effect.Effect<void>
) {
  const announced = yield* Queue.sliding<VersionId>(1)
  const latest = yield* Ref.make(Option.none<VersionId>())

  const compare = Effect.fnUntraced(function* (from: VersionId, versionId: VersionId) {
    const diff = yield* Effect.flatMap(readPair(from, versionId), comparePair)
    const { added, changed, removed } = diff.files
    yield* report({
      from,
      versionId,
      documents: diff.documents.map(({ more, records, ...document }) => document),
      files: { added, changed, removed },
      changes: changeTexts(diff)
    })
  })

  const compareNext = Effect.gen(function* () {
    const versionId = yield* Queue.take(announced)
    const before = yield* Ref.getAndSet(latest, Option.some(versionId))
    if (Option.isSome(before) && before.value !== versionId) {
      yield* compare(before.value, versionId)
    }
  }).pipe(
    Effect.catchAllCause((cause) =>
      Effect.logWarning(`The new version is not compared. ${messageOf(Cause.squash(cause))}`)
    )
  )

  yield* Effect.forkScoped(withoutParentSpan(Effect.forever(compareNext)))
  return (versionId: VersionId) => Effect.asVoid(Queue.offer(announced, versionId))
})
