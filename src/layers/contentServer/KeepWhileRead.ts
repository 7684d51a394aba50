/**
 * Keeps versions on disk while clients read them.
 */
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Option from "effect/Option"
import { CommandBus } from "../../services/CommandBus.ts"
import type { VersionId } from "../../services/VersionStore.ts"

/** Runs an effect that reads a version. */
export type WhileReading = Effect.Effect.Success<ReturnType<typeof make>>

/** How often `content.keep` is sent for a version that clients read. The command keeps the version for two minutes. */
export const interval = "1 minute"

/**
 * Dispatches `content.keep` when a client begins to read a version, and each minute while clients read it. Does not wait for
 * the command, and does nothing if the command is not registered.
 */
export const make = Effect.fnUntraced(function* (content: string) {
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

  return (versionId: VersionId) =>
    <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.acquireUseRelease(
        begin(versionId),
        () => effect,
        () => end(versionId)
      )
})
