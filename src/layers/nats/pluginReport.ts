/**
 * The slice of the connection to NATS: its schema, rows and problems.
 */
import * as Schema from "effect/Schema"
import { countText } from "../../internal/readable.ts"
import { count, optional, timestamp } from "../../internal/schemas.ts"
import type { Problem } from "../../services/Problem.ts"
import type { Row } from "../../services/StatusSnapshot.ts"
import { isRecentLoss, kv } from "../status/rows.ts"
import { reportOf, slicesOf } from "../status/slices.ts"

/** The slice of the connection to NATS. */
export const NatsState = Schema.Struct({
  kind: Schema.Literal("nats"),
  /** The URLs of the options. */
  servers: Schema.String,
  prefix: Schema.String,
  /** The connection, or why there is none. */
  link: Schema.Union(
    Schema.Struct({ since: timestamp, server: Schema.String, name: Schema.String }),
    Schema.Struct({ since: timestamp, problem: Schema.String })
  ),
  /** Commands of this process that other processes do not know, and why. */
  unknownElsewhere: optional(Schema.Struct({ commands: Schema.Array(Schema.String), reason: Schema.String })),
  /** What waits for the server. */
  waiting: Schema.Struct({ events: count, commands: count }),
  /** Events that could not be published. */
  failures: count,
  lastFailure: optional(Schema.Struct({ at: timestamp, reason: Schema.String }))
})
export type NatsState = typeof NatsState.Type

export const pluginReport = reportOf(slicesOf(NatsState), "nats", (slice, { now }) => ({
  sections: [{ name: "nats", order: 30, title: "NATS", rows: rows(slice, now) }],
  problems: problems(slice, now),
  logs: ["nats:away", "nats:commands", "nats:unpublished"]
}))

const problems = (slice: NatsState, now: number): ReadonlyArray<Problem> => {
  const { failures, lastFailure, link, servers, unknownElsewhere } = slice
  const found: Array<Problem> = []
  if ("problem" in link) {
    const text = `There has been no connection to NATS at ${servers} since ${link.since}: ${link.problem}`
    found.push({ code: "nats:away", severity: "warning", subject: servers, text, since: link.since })
  }
  if (unknownElsewhere !== undefined) {
    const { commands, reason } = unknownElsewhere
    const text = `Other processes do not know the commands ${commands.join(", ")}: ${reason}`
    found.push({ code: "nats:commands", severity: "warning", subject: servers, text })
  }
  if (lastFailure !== undefined && isRecentLoss(lastFailure.at, now)) {
    const { at, reason } = lastFailure
    const text = `${countText(failures, "event")} could not be published on NATS since the start, the last at ${at}: ${reason}`
    found.push({ code: "nats:unpublished", severity: "warning", subject: servers, text })
  }
  return found
}

const rows = (
  { failures, lastFailure, link, servers, waiting }: NatsState,
  now: number
): ReadonlyArray<Row> => [
  "problem" in link
    ? kv("Connection", `none to ${servers} since ${link.since}: ${link.problem}`, "error")
    : kv("Connection", `${link.server} since ${link.since}`, "ok"),
  ...(waiting.events + waiting.commands === 0
    ? []
    : [
        kv(
          "Waiting for the server",
          `${countText(waiting.events, "event")}, ${countText(waiting.commands, "command")} of other processes`
        )
      ]),
  ...(lastFailure === undefined
    ? []
    : [
        kv(
          "Not published",
          `${countText(failures, "event")}, the last at ${lastFailure.at}`,
          isRecentLoss(lastFailure.at, now) ? "warn" : "ok"
        )
      ])
]
