/**
 * The live fields of a plugin: the last ones that could be read, and since when they cannot be read.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { now, unsafeMonotonicMillis } from "../../internal/monotonicMillis.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import type { Unread } from "../../services/PluginFacts.ts"

/** How long a view waits for a read, in milliseconds. */
export const readLimitMs = 1000

/** With a test's clock, the wait for a read that hangs would never end. */
const machineMs = () => unsafeMonotonicMillis(Clock.make())

export interface LiveFields {
  /** Begins to read, except if a read is running. Gives the fiber that reads, except if it has had its time. */
  readonly begin: Effect.Effect<ReadonlyArray<Fiber.RuntimeFiber<unknown, unknown>>>
  /**
   * The last fields if there are any, and when they were read if a read has failed or is running since; the times are in
   * milliseconds.
   */
  readonly get: Effect.Effect<{
    readonly fields: object | undefined
    readonly readAt: number | undefined
    readonly unread: Unread | undefined
  }>
  /** Stops reading, without waiting for a read that hangs. */
  readonly end: Effect.Effect<void>
}

export const make = (read: Effect.Effect<object, unknown>) =>
  Effect.gen(function* () {
    let fields: object | undefined
    let readAt = yield* Clock.currentTimeMillis
    let running:
      | { readonly fiber: Fiber.RuntimeFiber<unknown, unknown>; readonly begunAt: number }
      | undefined
    /** The first read that has not succeeded since the last one that has. */
    let failing: { readonly wall: number; readonly monotonic: number; readonly reason?: string } | undefined

    const begin = Effect.gen(function* () {
      if (running !== undefined) {
        return machineMs() - running.begunAt < readLimitMs ? [running.fiber] : []
      }
      const at = yield* now
      failing ??= at
      let hasEnded = false
      const fiber = yield* Effect.forkDaemon(
        Effect.onExit(Effect.interruptible(read), (exit) =>
          Effect.sync(() => {
            hasEnded = true
            running = undefined
            if (Exit.isSuccess(exit)) {
              fields = exit.value
              readAt = at.wall
              failing = undefined
            } else {
              failing = { ...(failing ?? at), reason: messageOf(Cause.squash(exit.cause)) }
            }
          })
        )
      )
      running = hasEnded ? undefined : { fiber, begunAt: machineMs() }
      return [fiber]
    })

    return {
      begin,
      get: Effect.map(now, ({ monotonic }) => ({
        fields,
        readAt: failing && readAt,
        unread: failing && {
          since: failing.wall,
          lastsMs: monotonic - failing.monotonic,
          reason: failing.reason
        }
      })),
      end: Effect.suspend(() => (running === undefined ? Effect.void : Fiber.interruptFork(running.fiber)))
    } satisfies LiveFields
  })
