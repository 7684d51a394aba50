/**
 * When versions and leases are swept: after each fetch, and at ticks that fetch nothing, because nothing is new or the hub is
 * away.
 *
 * It has no timer of its own. What is removed, and that a lost manifest is written again, belongs to the store of versions.
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { monotonicMillis } from "../../internal/monotonicMillis.ts"
import { makeWarnWhile } from "../../internal/warnOnce.ts"
import { VersionStore } from "../../services/VersionStore.ts"
import { countVersions } from "./metrics.ts"
import type { ActiveVersion } from "./reportActiveVersion.ts"

/** The least time between a sweep and one at a tick that fetches nothing, unless the manifest is lost in between. */
const pause = Duration.minutes(5)

/** `before` is run before each sweep. */
export const makeSweeping = Effect.fnUntraced(function* (
  activeVersion: ActiveVersion,
  before: Effect.Effect<unknown>
) {
  const store = yield* VersionStore
  let sweptAt = yield* monotonicMillis
  let hadManifest = false
  const warning = makeWarnWhile((message) => message)

  const sweep = Effect.map(monotonicMillis, (now) => {
    sweptAt = now
  }).pipe(
    Effect.zipRight(before),
    Effect.zipRight(store.sweep),
    Effect.flatMap((removed) =>
      removed.length === 0 ? Effect.void : Effect.logDebug(`Removed old versions: ${removed.join(", ")}`)
    ),
    Effect.zipRight(countVersions(store)),
    Effect.matchEffect({
      onFailure: ({ message }) => warning.fails(message),
      onSuccess: () => warning.works
    })
  )

  const readManifest = store.manifest.pipe(
    Effect.map((reading) => Option.fromNullable(reading.status === "ok" ? reading.manifest : undefined)),
    Effect.orElse(() => Effect.succeedNone)
  )

  const sweepIfDue = Effect.gen(function* () {
    const manifest = yield* readManifest
    const isLost = hadManifest && Option.isNone(manifest)
    hadManifest = Option.isSome(manifest)
    const isDue = (yield* monotonicMillis) - sweptAt >= Duration.toMillis(pause)
    if (isLost || isDue) {
      yield* sweep
      // The manifest that was written again may name another version.
      const active = yield* readManifest
      if (Option.isSome(active)) {
        yield* activeVersion.report(active.value, "promoted")
      }
    }
  })

  return { sweep, sweepIfDue }
})
