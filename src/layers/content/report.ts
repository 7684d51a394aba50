/**
 * How the parts of the content plugin report what happens.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { ContentEvent } from "../../services/ContentEvents.ts"

export type Report = (event: ContentEvent) => Effect.Effect<void>

/** Now, in ISO 8601, UTC, with milliseconds. */
export const timestamp = Effect.map(Clock.currentTimeMillis, (now) => new Date(now).toISOString())
