/**
 * How fast the response to a request has to come.
 *
 * Only the time of the network counts: a slow disk is no reason to give up.
 */
import * as Effect from "effect/Effect"

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
  /** Fails when the download is too slow. Race it against the download. */
  readonly watch: Effect.Effect<never, TooSlow>
}

/** Fails when not the whole has come within so many milliseconds. */
export const whole = (maxTimeout: number): DownloadPace => ({
  came: () => {},
  waits: () => {},
  watch: Effect.zipRight(
    Effect.sleep(maxTimeout),
    Effect.fail<TooSlow>({ reason: "Whole", millis: maxTimeout })
  )
})

/**
 * Begins to wait. `maxTimeout` is the longest pause in milliseconds. The window in which the average counts is a minute,
 * or `maxTimeout` where that is longer; it starts again each time that enough for a whole window has come.
 *
 * With `maxSilence`, the longest pause once something has come, there is no average: events come when they happen.
 */
export const make = (maxTimeout: number, maxSilence?: number): Effect.Effect<DownloadPace> =>
  Effect.map(Effect.clock, (clock) => {
    const window = maxSilence === undefined ? Math.max(shortestWindow, maxTimeout) : Number.POSITIVE_INFINITY
    const enough = (window / 1000) * leastThroughput
    let waitingSince = clock.unsafeCurrentTimeMillis()
    let isWaiting = true
    let waited = 0
    let bytes = 0
    let longest = maxTimeout

    const came = (more: number) => {
      waited += clock.unsafeCurrentTimeMillis() - waitingSince
      bytes += more
      isWaiting = false
      longest = maxSilence ?? maxTimeout
      if (bytes >= enough) {
        waited = 0
        bytes = 0
      }
    }

    const waits = () => {
      waitingSince = clock.unsafeCurrentTimeMillis()
      isWaiting = true
    }

    /** One fiber for the whole download: a timeout for every chunk takes longer than the chunk. */
    const watch: Effect.Effect<never, TooSlow> = Effect.suspend(() => {
      const pause = isWaiting ? clock.unsafeCurrentTimeMillis() - waitingSince : 0
      if (pause >= longest) {
        return Effect.fail<TooSlow>({
          reason: longest === maxTimeout ? "Silence" : "NothingMore",
          millis: longest
        })
      }
      if (waited + pause >= window) {
        return Effect.fail<TooSlow>({ reason: "Trickle", bytes, millis: window })
      }
      const left = Math.min(longest - pause, window - waited - pause)
      return Effect.zipRight(Effect.sleep(isWaiting ? left : Math.max(left, busyCheck)), watch)
    })

    return { came, waits, watch }
  })
