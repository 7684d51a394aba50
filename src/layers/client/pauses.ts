/** Pauses with a random part, so that the screens of a museum do not act at the same time. */

/** The longest duration of a timer, some 24 days: a longer timer would end at once. */
const longestMs = 2 ** 31 - 1

/** Up to a fifth shorter or longer, in milliseconds, and at most the longest duration of a timer. */
export const about = (ms: number): number => Math.min(longestMs, ms * (0.8 + 0.4 * Math.random()))

/** The pause before a retry, in milliseconds: about 2, 4, 8, 16 and then 30 seconds. */
export const growing = (failures: number): number => about(Math.min(30_000, 2000 * 2 ** failures))

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
