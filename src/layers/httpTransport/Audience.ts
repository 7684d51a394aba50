/**
 * Who has event streams open, for the status: a technician must see who has them all.
 */
import { shown } from "../http/access.ts"

/** What the head of a request says of the client. */
export interface Client {
  readonly origin?: string | undefined
  readonly userAgent?: string | undefined
}

/** What these headers of a request, by names in small letters, say. */
export const clientOf = (headers: {
  readonly origin?: string | undefined
  readonly "user-agent"?: string | undefined
  readonly [name: string]: unknown
}): Client => ({ origin: headers.origin, userAgent: headers["user-agent"] })

/** A client, and when it came, by `performance.now()`. */
export interface Member extends Client {
  readonly since: number
}

/** The streams of clients that say the same of themselves. */
export interface StreamGroup {
  /** As the status may show it, as the user agent; empty where none was sent. */
  readonly origin: string
  readonly userAgent: string
  readonly streams: number
  /** How long the one that was opened first is open, in milliseconds. */
  readonly oldestMs: number
}

/** The group with the most streams first. */
export const groupsOf = (members: Iterable<Member>, now: number): ReadonlyArray<StreamGroup> => {
  const groups = new Map<string, StreamGroup>()
  for (const { since, ...client } of members) {
    const origin = shown(client.origin ?? "")
    const userAgent = shown(client.userAgent ?? "")
    const key = `${origin}\n${userAgent}`
    const group = groups.get(key) ?? { origin, userAgent, streams: 0, oldestMs: 0 }
    groups.set(key, {
      ...group,
      streams: group.streams + 1,
      oldestMs: Math.max(group.oldestMs, now - since)
    })
  }
  return [...groups.values()].sort((one, other) => other.streams - one.streams)
}
