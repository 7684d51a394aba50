/**
 * The live fields of a plugin: the last ones that could be read, and since when they cannot be read.
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { type Now, unsafeMonotonicMillis } from "../../internal/monotonicMillis.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import type { Unread } from "../../services/PluginFacts.ts"

/** How long a view waits for a read, in milliseconds. */
export const readLimitMs = 1000

/** With a test's clock, the wait for a read that hangs would never end. */
const machineMs = () => unsafeMonotonicMillis(Clock.make())

type ReadFiber = Fiber.RuntimeFiber<unknown, unknown>

export interface LiveFields {
  /** Begins to read, except if a read is running. Gives the fiber that reads, except if it has had its time. */
  readonly begin: (at: Now) => Effect.Effect<ReadFiber | undefined>
  /**
   * The last fields if there are any, and when they were read if a read has failed or is running since; the times are in
   * milliseconds.
   */
  readonly get: (at: Now) => {
    readonly fields: object | undefined
    readonly readAt: number | undefined
    readonly unread: Unread | undefined
  }
  /** Stops reading, without waiting for a read that hangs. */
  readonly end: Effect.Effect<void>
}

export const make = (read: Effect.Effect<object, unknown>) =>
  Effect.map(Clock.currentTimeMillis, (madeAt): LiveFields => {
    let fields: object | undefined
    let readAt = madeAt
    let running: { readonly fiber: ReadFiber; readonly begunAt: number } | undefined
    /** The first read that has not succeeded since the last one that has. */
    let failing: (Now & { readonly reason?: string }) | undefined

    const begin = (at: Now) =>
      Effect.map(Effect.forkDaemon(Effect.interruptible(read)), (fiber) => {
        failing ??= at
        running = { fiber, begunAt: machineMs() }
        fiber.addObserver((exit) => {
          running = undefined
          if (Exit.isSuccess(exit)) {
            fields = exit.value
            readAt = at.wall
            failing = undefined
          } else {
            failing = { ...(failing ?? at), reason: messageOf(Cause.squash(exit.cause)) }
          }
        })
        return fiber
      })

    return {
      begin: (at) =>
        running === undefined
          ? begin(at)
          : Effect.succeed(machineMs() - running.begunAt < readLimitMs ? running.fiber : undefined),
      get: ({ monotonic }) => ({
        fields,
        readAt: failing && readAt,
        unread: failing && {
          since: failing.wall,
          lastsMs: monotonic - failing.monotonic,
          reason: failing.reason
        }
      }),
      end: Effect.suspend(() => (running === undefined ? Effect.void : Fiber.interruptFork(running.fiber)))
    }
  })

/** Waits until all of these reads have ended, but not longer than their limit. */
export const untilEnded = (reads: ReadonlyArray<ReadFiber>): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    let open = reads.length
    const stop = () => {
      clearTimeout(timer)
      for (const fiber of reads) fiber.removeObserver(ended)
    }
    const end = () => {
      stop()
      resume(Effect.void)
    }
    const ended = () => {
      open -= 1
      if (open === 0) end()
    }
    const timer = setTimeout(end, readLimitMs)
    for (const fiber of reads) fiber.addObserver(ended)
    return Effect.sync(stop)
  }).pipe(Effect.interruptible)
