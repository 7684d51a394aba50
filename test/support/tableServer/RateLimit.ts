/**
 * The hosted API's rate limit: 5 requests a second for each base, and a penalty for the one that is too many.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { type ApiError, rateLimitReached } from "./ApiError.ts"

/** Counts a request for a base, or refuses it. */
export type RateLimit = (baseId: string) => Effect.Effect<void, ApiError>

const requestsPerSecond = 5

/** How long everything for a base is refused. Requests in that time do not prolong it. */
const penaltyMs = 30_000

export const unlimited: RateLimit = () => Effect.void

export const make: Effect.Effect<RateLimit> = Effect.sync(() => {
  const bases = new Map<string, Usage>()

  return Effect.fn("RateLimit.take")(function* (baseId: string) {
    const now = yield* Clock.currentTimeMillis
    const usage = use(bases.get(baseId) ?? unused, now)
    bases.set(baseId, usage)
    if (now < usage.refusedUntil) {
      return yield* rateLimitReached(
        `More than ${requestsPerSecond} requests a second were sent to this base. Everything is refused for another ${Math.ceil((usage.refusedUntil - now) / 1000)} seconds.`
      )
    }
  })
})

interface Usage {
  /** When the latest requests came, the oldest first. */
  readonly recent: ReadonlyArray<number>
  readonly refusedUntil: number
}

const unused: Usage = { recent: [], refusedUntil: 0 }

const use = (usage: Usage, now: number): Usage => {
  if (now < usage.refusedUntil) {
    return usage
  }
  const recent = usage.recent.filter((time) => now - time < 1000)
  return recent.length < requestsPerSecond
    ? { recent: [...recent, now], refusedUntil: 0 }
    : { recent: [], refusedUntil: now + penaltyMs }
}
