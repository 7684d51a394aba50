/**
 * The slice of the connection to NATS.
 */
import * as Schema from "effect/Schema"

const count = Schema.NonNegativeInt

/** ISO 8601, UTC. */
const timestamp = Schema.String

const optional = <A, I>(schema: Schema.Schema<A, I>) => Schema.optionalWith(schema, { exact: true })

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
