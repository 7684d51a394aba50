/**
 * The options of the local table server.
 */
import * as Duration from "effect/Duration"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import type { DurationConfig } from "../../../src/internal/DurationConfig.ts"
import { decodeOptions, expects, expectsSecret, optional } from "../../../src/internal/Options.ts"
import { host, port } from "../../../src/internal/optionSchemas.ts"
import { expected, parseFault } from "./Faults.ts"

const text = (what: string) => expects(Schema.String.pipe(Schema.minLength(1)), what)

const isFault = (text: string): boolean => Either.isRight(parseFault(text))

const isLifetime = (value: unknown): value is Duration.DurationInput =>
  Option.exists(Duration.decodeUnknown(value), Duration.between({ minimum: "1 milli", maximum: "24 days" }))

/** The options of `layer`. */
export interface TableServerConfig {
  /** The folder whose CSV and JSON files are the tables. */
  readonly directory: string

  /** The interface to bind. Default `127.0.0.1`: this machine only. */
  readonly host?: string

  /** The port to listen on, 0 to 65535; 0 picks a free one. Default 8740. */
  readonly port?: number

  /** The port of the second origin, which attachments come from; 0 picks a free one. Default 0. */
  readonly attachmentPort?: number

  /**
   * How long the link to an attachment is good for: `"10 seconds"`, or milliseconds, from 1 millisecond to 24
   * days. Default 2 hours, as with the hosted service.
   */
  readonly attachmentLinkLifetime?: DurationConfig

  /** The only bearer token that is accepted. Default: any that is not empty. */
  readonly token?: string | undefined

  /** The only base there is. Default: every base id leads to the tables. */
  readonly baseId?: string | undefined

  /** What goes wrong on purpose, in the words of `Faults.ts`: `["Objects 503 x2"]`. Default: nothing. */
  readonly faults?: ReadonlyArray<string>

  /**
   * Whether more than 5 requests a second for one base are refused for 30 seconds, as the hosted service
   * does. Default `true`.
   */
  readonly rateLimit?: boolean
}

export const TableServerOptions = Schema.Struct({
  directory: text("the path of a folder of tables"),
  host,
  port: port(8740),
  attachmentPort: port(0),
  attachmentLinkLifetime: optional(
    expects(Schema.declare(isLifetime), 'a duration such as "2 hours" or "10 seconds", of 24 days at most'),
    "2 hours"
  ),
  token: Schema.optional(expectsSecret(Schema.String.pipe(Schema.minLength(1)), "a text that is not empty")),
  baseId: Schema.optional(text("the id of a base, a text that is not empty")),
  faults: optional(Schema.Array(expects(Schema.String.pipe(Schema.filter(isFault)), expected)), []),
  rateLimit: optional(expects(Schema.Boolean, "true or false"), true)
})
export type TableServerOptions = typeof TableServerOptions.Type

export const decodeTableServerOptions = decodeOptions("the options of the table server", TableServerOptions)
