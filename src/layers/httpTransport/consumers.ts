/**
 * The consumers that have event streams of their own (`/events?consumer=ID`): a stream that ends, and does not come back, is the first
 * that is known of a screen that was switched off.
 */
import { isPlainFileName } from "../../internal/FileName.ts"
import { maxConsumers } from "../../internal/maxConsumers.ts"
import type { TransportState } from "../../services/Slices.ts"
import type { Member } from "./Audience.ts"

/** The consumer that a request target names; undefined where it names none, or no possible one. */
export const consumerIn = (target: string): string | undefined => {
  const query = target.split("?", 2)[1]
  const id = query === undefined ? null : new URLSearchParams(query).get("consumer")
  return id !== null && isPlainFileName(id) ? id : undefined
}

/** Times are by `performance.now()`. */
interface Streams {
  /** When the first of those began that are open, or were open last. */
  readonly since: number
  readonly endedAt: number
}

export const makeConsumers = () => {
  // No Ref: streams come and go in callbacks of sockets, where no fiber runs.
  let known: ReadonlyMap<string, Streams> = new Map()
  return {
    /** To be called whenever a stream has come or gone. */
    changed: (members: ReadonlyArray<Member>) => {
      const now = performance.now()
      const open = new Map<string, Streams>()
      for (const { consumer, since } of members) {
        if (consumer !== undefined && !open.has(consumer)) {
          open.set(consumer, { since, endedAt: Number.POSITIVE_INFINITY })
        }
      }
      if (open.size > 0 || known.size > 0) {
        const ended = [...known]
          .filter(([id]) => !open.has(id))
          .map(([id, { endedAt, since }]) => [id, { since, endedAt: Math.min(endedAt, now) }] as const)
          .sort(([, one], [, other]) => other.endedAt - one.endedAt)
        known = new Map([...open, ...ended].slice(0, maxConsumers))
      }
    },

    /** As the state has them; `now` is in milliseconds since 1970. */
    list: (now: number): NonNullable<TransportState["consumers"]> => {
      const start = now - performance.now()
      const iso = (millis: number) => new Date(start + millis).toISOString()
      return [...known].map(([id, { endedAt, since }]) => ({
        id,
        since: iso(since),
        ...(endedAt === Number.POSITIVE_INFINITY ? {} : { endedAt: iso(endedAt) })
      }))
    }
  }
}
