/**
 * Warnings of what may happen with every event, said once.
 */
import * as Effect from "effect/Effect"

/** Of how many names a warning is given. The last says that no more will come. */
export const maxNames = 100

/** Logs the warning, unless the name had one before. */
export const makeWarnOnce = (warning: (name: string) => string) => {
  const warned = new Set<string>()
  return (name: string): Effect.Effect<void> =>
    Effect.suspend(() => {
      if (warned.has(name) || warned.size === maxNames) {
        return Effect.void
      }
      warned.add(name)
      const isLast = warned.size === maxNames
      return Effect.logWarning(`${warning(name)}${isLast ? " There are more; no others are named." : ""}`)
    })
}

/** Logs the first failure of something, and the next one only when it has worked in between: each may say it anew. */
export const makeWarnWhile = (warning: (message: string) => string) => {
  let isFailing = false
  return {
    isFailing: () => isFailing,
    works: Effect.sync(() => {
      isFailing = false
    }),
    fails: (message: string): Effect.Effect<void> =>
      Effect.suspend(() => {
        const wasFailing = isFailing
        isFailing = true
        return wasFailing ? Effect.void : Effect.logWarning(warning(message))
      })
  }
}
