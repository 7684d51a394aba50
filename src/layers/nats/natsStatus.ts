/**
 * The section on NATS in the status.
 */
import * as Option from "effect/Option"
import { printableStart } from "../../internal/printable.ts"
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
        value: `other processes do not know ${commands.join(", ")}: ${printableStart(reason, maxText)}`,
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
          : `${countText(failures, "event")}, the last at ${lastFailure.at.toISOString()}: ${printableStart(lastFailure.reason, maxText)}`,
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
      ? { problem: printableStart(link.reason, maxText) }
      : { server: link.server, name: printableStart(link.name, maxText) })
  },
  ...Option.match(unclaimed, {
    onNone: () => ({}),
    onSome: ({ commands, reason }) => ({
      unknownElsewhere: { commands, reason: printableStart(reason, maxText) }
    })
  }),
  waiting: { events, commands },
  failures,
  ...(lastFailure === undefined
    ? {}
    : {
        lastFailure: {
          at: lastFailure.at.toISOString(),
          reason: printableStart(lastFailure.reason, maxText)
        }
      })
})

const linkRow = (link: Link, servers: string): Row =>
  "reason" in link
    ? {
        type: "kv",
        label: "Connection",
        value: `none to ${servers} since ${link.since.toISOString()}: ${printableStart(link.reason, maxText)}`,
        tone: "error"
      }
    : {
        type: "kv",
        label: "Connection",
        value: `${link.server} (${printableStart(link.name, maxText)}) since ${link.since.toISOString()}`,
        tone: "ok"
      }

/** How much of a text is shown that comes from the server. */
const maxText = 300
