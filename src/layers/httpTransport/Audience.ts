/**
 * Who has event streams open, for the state: a technician must see who has them all.
 */
import type { TransportState } from "../../services/Slices.ts"
import { shown } from "../http/access.ts"

/** What the head of a request says of the client. */
export interface Client {
  readonly origin?: string | undefined
  readonly userAgent?: string | undefined
  /** The consumer whose stream it is. */
  readonly consumer?: string | undefined
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

export type Audience = Pick<TransportState, "largestOrigin" | "streams">

/** How many groups are shown. */
export const maxGroups = 10

/** As the state has them; `now` is in milliseconds since 1970. */
export const audienceOf = (members: Iterable<Member>, now: number): Audience => {
  const start = now - performance.now()
  const groups = new Map<string, TransportState["streams"][number]>()
  const byOrigin = new Map<string, number>()
  for (const { since, ...client } of members) {
    const origin = shown(client.origin ?? "")
    const userAgent = shown(client.userAgent ?? "")
    const key = `${origin}\n${userAgent}`
    const { streams, ...first } = groups.get(key) ?? {
      origin,
      userAgent,
      streams: 0,
      since: new Date(start + since).toISOString()
    }
    groups.set(key, { ...first, streams: streams + 1 })
    byOrigin.set(origin, (byOrigin.get(origin) ?? 0) + 1)
  }
  const [origin, streams] = [...byOrigin].reduce(
    (most, entry) => (entry[1] > most[1] ? entry : most),
    ["", 0]
  )
  return {
    streams: [...groups.values()].sort((one, other) => other.streams - one.streams).slice(0, maxGroups),
    ...(origin === "" ? {} : { largestOrigin: { origin, streams } })
  }
}
