/**
 * Keeps versions on disk while they are read.
 */
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Option from "effect/Option"
import type * as Scope from "effect/Scope"
import { CommandBus } from "../../services/CommandBus.ts"
import type { VersionId } from "../../services/VersionStore.ts"

export interface Reading {
  /** Runs an Effect that reads a version. */
  readonly of: (versionId: VersionId) => <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** How often a version is asked for that is being read: less than the two minutes for which that keeps it. */
export const interval = "1 minute"

/**
 * Dispatches `content.keep` when a version begins to be read, and each minute while it is. It waits for nothing, and
 * where the command is not registered, nothing happens.
 */
export const make = Effect.fnUntraced(function* (
  content: string
): Effect.fn.Return<Reading, never, CommandBus | Scope.Scope> {
  const commands = yield* CommandBus
  const readers = new Map<VersionId, number>()
  const fibers = yield* FiberMap.make<VersionId>()

  const keep = (versionId: VersionId, still: boolean) =>
    Effect.ignore(commands.dispatch({ type: `${content}.keep`, versionId, still }, { timeout: interval }))

  const keepWhileRead = (versionId: VersionId) =>
    Effect.zipRight(
      keep(versionId, false),
      Effect.when(keep(versionId, true), () => readers.has(versionId)).pipe(
        Effect.delay(interval),
        Effect.repeat({ while: Option.isSome })
      )
    )

  const begin = (versionId: VersionId) =>
    Effect.suspend(() => {
      readers.set(versionId, (readers.get(versionId) ?? 0) + 1)
      return FiberMap.run(fibers, versionId, keepWhileRead(versionId), { onlyIfMissing: true })
    })

  const end = (versionId: VersionId) =>
    Effect.sync(() => {
      const others = (readers.get(versionId) ?? 1) - 1
      if (others === 0) {
        readers.delete(versionId)
      } else {
        readers.set(versionId, others)
      }
    })

  return {
    of: (versionId) => (effect) =>
      Effect.acquireUseRelease(
        begin(versionId),
        () => effect,
        () => end(versionId)
      )
  }
})
