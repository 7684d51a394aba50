/**
 * Compares each announced version with the version announced before it, in the background.
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"
import { withoutParentSpan } from "../../internal/withoutParentSpan.ts"
import type { ComparedVersion } from "../../services/ContentDiff.ts"
import type { VersionId } from "../../services/VersionStore.ts"
import { changeWords } from "../status/changes.ts"
import { comparePair, readPair } from "./compareVersions.ts"

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
      changes: changeWords(diff)
    })
  })

  const compareNext = Effect.gen(function* () {
    const versionId = yield* Queue.take(announced)
    const before = yield* Ref.getAndSet(latest, Option.some(versionId))
    if (Option.isSome(before) && before.value !== versionId) {
      yield* compare(before.value, versionId)
    }
  }).pipe(Effect.catchAll(({ message }) => Effect.logWarning(`The new version is not compared. ${message}`)))

  yield* Effect.forkScoped(withoutParentSpan(Effect.forever(compareNext)))
  return (versionId: VersionId) => Effect.asVoid(Queue.offer(announced, versionId))
})
