/**
 * Who has event streams open, for the status: a technician must see who has them all.
 *
 * Clients that say the same of themselves share one group, so that a client costs little more than its entry.
 */
import { printableStart } from "../../internal/printable.ts"

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

/** The streams of clients that say the same of themselves. */
export interface StreamGroup {
  /** As the status may show it, as the user agent; empty where none was sent. */
  readonly origin: string
  readonly userAgent: string
  readonly streams: number
  /** How long the one that was opened first is open, in milliseconds. */
  readonly oldestMs: number
}

export interface Audience<A> {
  readonly join: (member: A, client?: Client) => void
  /** Whether it was a member. */
  readonly leave: (member: A) => boolean
  readonly size: () => number
  readonly members: () => Iterable<A>
  /** The group with the most streams first. */
  readonly groups: () => ReadonlyArray<StreamGroup>
}

/** How many characters of an origin and of a user agent are kept. */
const maxLength = 100

interface Group {
  readonly key: string
  readonly origin: string
  readonly userAgent: string
  streams: number
}

export const makeAudience = <A>(): Audience<A> => {
  const groups = new Map<string, Group>()
  const members = new Map<A, { readonly group: Group; readonly since: number }>()

  const groupOf = ({ origin = "", userAgent = "" }: Client): Group => {
    const shown = {
      origin: printableStart(origin, maxLength),
      userAgent: printableStart(userAgent, maxLength)
    }
    const key = `${shown.origin}\n${shown.userAgent}`
    const group = groups.get(key) ?? { ...shown, key, streams: 0 }
    groups.set(key, group)
    return group
  }

  return {
    join: (member, client = {}) => {
      const group = groupOf(client)
      group.streams += 1
      members.set(member, { group, since: performance.now() })
    },
    leave: (member) => {
      const group = members.get(member)?.group
      if (group === undefined) {
        return false
      }
      group.streams -= 1
      if (group.streams === 0) {
        groups.delete(group.key)
      }
      return members.delete(member)
    },
    size: () => members.size,
    members: () => members.keys(),
    groups: () => {
      const now = performance.now()
      const oldest = new Map<Group, number>()
      for (const { group, since } of members.values()) {
        // Members are in the order in which they joined.
        if (!oldest.has(group)) {
          oldest.set(group, now - since)
        }
      }
      return [...oldest]
        .map(([{ origin, streams, userAgent }, oldestMs]) => ({ origin, userAgent, streams, oldestMs }))
        .sort((a, b) => b.streams - a.streams)
    }
  }
}
