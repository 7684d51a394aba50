/** Pauses that the screens of a museum do not all make at the same time. */

/** Timers take no more milliseconds, some 24 days: what is longer ends at once. */
const longestMs = 2 ** 31 - 1

/** Up to a fifth shorter or longer, in milliseconds, as far as a timer goes. */
export const about = (ms: number): number => Math.min(longestMs, ms * (0.8 + 0.4 * Math.random()))

/** From one failure to the next try: 2, 4, 8, 16 and then 30 seconds, or about that. */
export const growing = (failures: number): number => about(Math.min(30_000, 2000 * 2 ** failures))

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
