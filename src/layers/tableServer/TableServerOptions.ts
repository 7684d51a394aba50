/**
 * The options of the local table server.
 */
import * as Schema from "effect/Schema"
import { decodeOptions, expects, expectsSecret, optional } from "../../services/Options.ts"

const text = (what: string) => expects(Schema.String.pipe(Schema.minLength(1)), what)

export const TableServerOptions = Schema.Struct({
  /** The folder whose CSV and JSON files are the tables. */
  directory: text("the path of a folder of tables"),

  /** The interface to bind. Default `127.0.0.1`: nobody but this machine. */
  host: optional(text('a host name or address, such as "127.0.0.1"'), "127.0.0.1"),

  /** The port to listen on, 0 to 65535; 0 picks a free one. Default 8730. */
  port: optional(
    expects(Schema.Int.pipe(Schema.between(0, 65535)), "a whole number between 0 and 65535"),
    8730
  ),

  /** The only bearer token that is accepted. Default: any that is not empty. */
  token: Schema.optional(expectsSecret(Schema.String.pipe(Schema.minLength(1)), "a text that is not empty")),

  /** The only base there is. Default: every base id leads to the tables. */
  baseId: Schema.optional(text("the id of a base, a text that is not empty")),

  /**
   * Whether more than 5 requests a second for one base are refused for 30 seconds, as the hosted service
   * does. Default `true`.
   */
  rateLimit: optional(expects(Schema.Boolean, "true or false"), true)
})
export type TableServerOptions = typeof TableServerOptions.Type

/** The options as they are written, defaults left out. */
export type TableServerInput = typeof TableServerOptions.Encoded

export const decodeTableServerOptions = decodeOptions("the options of the table server", TableServerOptions)
