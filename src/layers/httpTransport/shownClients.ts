/**
 * How the state shows the clients of a transport: a technician must see who has its event streams, and when a screen's ended.
 */
import type { HttpServerRequest } from "@effect/platform/HttpServerRequest"
import { isPlainFileName } from "../../internal/FileName.ts"
import type { TransportState } from "../../services/Slices.ts"
import { maxConsumers } from "../../services/VersionStore.ts"
import { shown } from "../http/access.ts"

/** The client of a request. */
export interface Client {
  readonly origin?: string | undefined
  readonly userAgent?: string | undefined
  /** The consumer whose stream it is: `/events?consumer=ID`. */
  readonly consumer?: string | undefined
}

export const clientOf = ({
  headers,
  originalUrl
}: Pick<HttpServerRequest, "headers" | "originalUrl">): Client => {
  const query = originalUrl.split("?", 2)[1]
  const id = query === undefined ? null : new URLSearchParams(query).get("consumer")
  return {
    origin: headers.origin,
    userAgent: headers["user-agent"],
    consumer: id !== null && isPlainFileName(id) ? id : undefined
  }
}

/** A client, and when it came, by `performance.now()`. */
export interface Member extends Client {
  readonly since: number
}

/** How many groups are shown. */
export const maxGroups = 10

/** Clients that say the same of themselves as one group, and the origin with the most streams. */
export const groupsOf = (
  members: ReadonlyArray<Member>,
  isoTime: (since: number) => string
): Pick<TransportState, "largestOrigin" | "streams"> => {
  const groups = new Map<string, TransportState["streams"][number]>()
  const byOrigin = new Map<string, number>()
  for (const member of members) {
    const origin = shown(member.origin ?? "")
    const userAgent = shown(member.userAgent ?? "")
    const key = `${origin}\n${userAgent}`
    const { since = isoTime(member.since), streams = 0 } = groups.get(key) ?? {}
    groups.set(key, { origin, userAgent, streams: streams + 1, since })
    byOrigin.set(origin, (byOrigin.get(origin) ?? 0) + 1)
  }
  const [origin = "", streams = 0] = mostFirst([...byOrigin], ([, streams]) => streams)[0] ?? []
  return {
    streams: mostFirst([...groups.values()], ({ streams }) => streams).slice(0, maxGroups),
    ...(origin === "" ? {} : { largestOrigin: { origin, streams } })
  }
}

const mostFirst = <A>(entries: ReadonlyArray<A>, count: (entry: A) => number): ReadonlyArray<A> =>
  entries.toSorted((one, other) => count(other) - count(one))

/** When streams of consumers began and ended, the latest last. No Ref: they end in callbacks of sockets, where no fiber runs. */
export type EndedStreams = Map<string, { readonly since: number; readonly endedAt: number }>

/** Notes the end of a stream; of too many the earliest is forgotten. */
export const noteEnd = (ended: EndedStreams, { consumer, since }: Member): void => {
  if (consumer === undefined) {
    return
  }
  ended.delete(consumer)
  ended.set(consumer, { since, endedAt: performance.now() })
  for (const id of [...ended.keys()].slice(0, -maxConsumers)) {
    ended.delete(id)
  }
}

/** The consumers that have or had a stream: those with an open one first, then those whose stream ended last. */
export const consumersOf = (
  members: ReadonlyArray<Member>,
  ended: EndedStreams,
  isoTime: (since: number) => string
): NonNullable<TransportState["consumers"]> => {
  const open = new Map(
    members.toReversed().flatMap(({ consumer, since }) => (consumer === undefined ? [] : [[consumer, since]]))
  )
  return [
    ...[...open].map(([id, since]) => ({ id, since: isoTime(since) })),
    ...[...ended]
      .filter(([id]) => !open.has(id))
      .reverse()
      .map(([id, { endedAt, since }]) => ({ id, since: isoTime(since), endedAt: isoTime(endedAt) }))
  ].slice(0, maxConsumers)
}
