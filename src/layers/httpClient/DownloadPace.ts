/**
 * How fast the response to a request has to come.
 *
 * Only the time of the network counts: a slow disk is no reason to give up.
 */
import type * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"

/** Bytes per second that every window must bring on average. */
export const leastThroughput = 1024

/** The shortest window, in milliseconds. */
const shortestWindow = 60_000

/** Milliseconds until the next check while data is being written. */
const busyCheck = 1000

/** What a download is too slow for: it brought nothing for so long, nothing more, less than the least throughput allows, or not the whole in time. */
export type TooSlow =
  | { readonly reason: "Whole"; readonly millis: number }
  | { readonly reason: "Silence"; readonly millis: number }
  | { readonly reason: "NothingMore"; readonly millis: number }
  | { readonly reason: "Trickle"; readonly bytes: number; readonly millis: number }

export interface DownloadPace {
  /** Data has come: time does not count until `waits`. */
  readonly came: (bytes: number) => void
  /** More data is waited for. */
  readonly waits: () => void
  /** What it is too slow for, or the milliseconds until that may be so. */
  readonly check: () => TooSlow | number
}

/** Not the whole may take longer than so many milliseconds. */
export const whole = (clock: Clock.Clock, maxTimeout: number): DownloadPace => {
  const end = clock.unsafeCurrentTimeMillis() + maxTimeout
  return {
    came: () => {},
    waits: () => {},
    check: () => {
      const left = end - clock.unsafeCurrentTimeMillis()
      return left > 0 ? left : { reason: "Whole", millis: maxTimeout }
    }
  }
}

/**
 * Begins to wait. `maxTimeout` is the longest pause in milliseconds. The window in which the average counts is a minute,
 * or `maxTimeout` where that is longer; it starts again each time that enough for a whole window has come.
 *
 * With `maxSilence`, the longest pause once something has come, there is no average: events come when they happen.
 */
export const make = (clock: Clock.Clock, maxTimeout: number, maxSilence?: number): DownloadPace => {
  const window = maxSilence === undefined ? Math.max(shortestWindow, maxTimeout) : Number.POSITIVE_INFINITY
  const enough = (window / 1000) * leastThroughput
  let waitingSince = clock.unsafeCurrentTimeMillis()
  let isWaiting = true
  let waited = 0
  let bytes = 0
  let longest = maxTimeout
  return {
    came: (more) => {
      if (isWaiting) waited += clock.unsafeCurrentTimeMillis() - waitingSince
      bytes += more
      isWaiting = false
      longest = maxSilence ?? maxTimeout
      if (bytes >= enough) {
        waited = 0
        bytes = 0
      }
    },
    waits: () => {
      waitingSince = clock.unsafeCurrentTimeMillis()
      isWaiting = true
    },
    check: () => {
      const pause = isWaiting ? clock.unsafeCurrentTimeMillis() - waitingSince : 0
      if (pause >= longest) {
        return { reason: longest === maxTimeout ? "Silence" : "NothingMore", millis: longest }
      }
      if (waited + pause >= window) return { reason: "Trickle", bytes, millis: window }
      const left = Math.min(longest - pause, window - waited - pause)
      return isWaiting ? left : Math.max(left, busyCheck)
    }
  }
}

/**
 * One fiber that watches all paces of one `maxTimeout`: one for each request takes longer than a small request. It looks again within
 * that time, before which none that begins meanwhile can be too slow.
 */
export const makeWatch = (maxTimeout: number) => {
  const watched = new Map<DownloadPace, (slow: TooSlow) => Effect.Effect<void>>()
  let watching: Fiber.RuntimeFiber<void> | undefined

  const watch: Effect.Effect<void> = Effect.suspend(() => {
    let pause = maxTimeout
    const ended: Array<Effect.Effect<void>> = []
    for (const [pace, giveUp] of watched) {
      const checked = pace.check()
      if (typeof checked === "number") pause = Math.min(pause, checked)
      else {
        watched.delete(pace)
        ended.push(giveUp(checked))
      }
    }
    if (watched.size === 0) watching = undefined
    return Effect.zipRight(
      Effect.all(ended, { discard: true }),
      watching === undefined ? Effect.void : Effect.zipRight(Effect.sleep(pause), watch)
    )
  })

  return {
    /** `giveUp` is run, once, when it is too slow. */
    begin: (pace: DownloadPace, giveUp: (slow: TooSlow) => Effect.Effect<void>): Effect.Effect<void> =>
      Effect.suspend(() => {
        watched.set(pace, giveUp)
        return watching !== undefined
          ? Effect.void
          : Effect.map(Effect.forkDaemon(Effect.interruptible(watch)), (fiber) => {
              watching = fiber
            })
      }),
    end: (pace: DownloadPace): void => {
      watched.delete(pace)
      if (watched.size > 0) return
      watching?.unsafeInterruptAsFork(FiberId.none)
      watching = undefined
    }
  }
}
