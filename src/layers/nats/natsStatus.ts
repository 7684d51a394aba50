/**
 * The section on NATS in the status.
 */
import * as Option from "effect/Option"
import { excerpt } from "../../internal/printable.ts"
import { countText } from "../../internal/readable.ts"
import type { Row } from "../../services/ControllerState.ts"
import type { TrafficNow } from "./traffic.ts"

/** The connection, or why there is none. */
export type Link =
  | { readonly since: Date; readonly server: string; readonly name: string }
  | { readonly since: Date; readonly reason: string }

/** Commands of this process that the others do not know. */
export interface Unclaimed {
  readonly commands: ReadonlyArray<string>
  readonly reason: string
}

export interface NatsOverview {
  readonly link: Link
  readonly unclaimed: Option.Option<Unclaimed>
  readonly prefix: string
  /** The URLs of the options. */
  readonly servers: string
  readonly traffic: TrafficNow
}

export const statusRows = ({
  link,
  prefix,
  servers,
  traffic,
  unclaimed
}: NatsOverview): ReadonlyArray<Row> => {
  const { commands, events, failures, lastFailure } = traffic
  return [
    linkRow(link, servers),
    { type: "kv", label: "Prefix", value: prefix },
    ...Option.toArray(unclaimed).map(
      ({ commands, reason }): Row => ({
        type: "kv",
        label: "Commands",
        value: `other processes do not know ${commands.join(", ")}: ${excerpt(reason)}`,
        tone: "warn"
      })
    ),
    {
      type: "kv",
      label: "Waiting for the server",
      value: `${countText(events, "event")}, ${countText(commands, "command")} of other processes`
    },
    {
      type: "kv",
      label: "Not published",
      value:
        lastFailure === undefined
          ? "none"
          : `${countText(failures, "event")}, the last at ${lastFailure.at.toISOString()}: ${excerpt(lastFailure.reason)}`,
      tone: failures === 0 ? "ok" : "warn"
    }
  ]
}

/** The same as data. */
export const statusData = ({
  link,
  traffic: { commands, events, failures, lastFailure },
  unclaimed,
  ...options
}: NatsOverview): Readonly<Record<string, unknown>> => ({
  ...options,
  link: {
    since: link.since.toISOString(),
    ...("reason" in link
      ? { problem: excerpt(link.reason) }
      : { server: link.server, name: excerpt(link.name) })
  },
  ...Option.match(unclaimed, {
    onNone: () => ({}),
    onSome: ({ commands, reason }) => ({
      unknownElsewhere: { commands, reason: excerpt(reason) }
    })
  }),
  waiting: { events, commands },
  failures,
  ...(lastFailure === undefined
    ? {}
    : {
        lastFailure: {
          at: lastFailure.at.toISOString(),
          reason: excerpt(lastFailure.reason)
        }
      })
})

const linkRow = (link: Link, servers: string): Row =>
  "reason" in link
    ? {
        type: "kv",
        label: "Connection",
        value: `none to ${servers} since ${link.since.toISOString()}: ${excerpt(link.reason)}`,
        tone: "error"
      }
    : {
        type: "kv",
        label: "Connection",
        value: `${link.server} (${excerpt(link.name)}) since ${link.since.toISOString()}`,
        tone: "ok"
      }
