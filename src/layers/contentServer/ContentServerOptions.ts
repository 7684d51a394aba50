/**
 * The options of the content server.
 */
import * as Schema from "effect/Schema"
import { decodeOptions, expects, optional } from "../../internal/Options.ts"
import { allowedHosts, host, integer, port, token } from "../http/serverOptions.ts"

const folder = expects(Schema.NonEmptyString, "the path of a folder")

const name = expects(
  Schema.String.pipe(Schema.pattern(/^[a-z][a-z0-9-]*$/)),
  'the name of a content plugin, such as "content"'
)

export const ContentServerOptions = Schema.Struct({
  /** Folder of the versions and the manifest, relative to the configuration file. Default `downloads`. */
  downloadPath: optional(folder, "downloads"),

  /** Listening port, 0 to 65535; 0 picks a free one. Default 8730. */
  port: port(8730),

  /** Interface to bind. Default `127.0.0.1`: this machine only. */
  host,

  /** Folder of a page to serve at `/`, relative to the configuration file. Default none. */
  site: Schema.optionalWith(folder, { exact: true }),

  /**
   * Name of the plugin that writes the folder, whose command `NAME.keep` keeps a version on disk while it is read.
   * It is also in the name of this plugin: `NAME-server`. Default `content`.
   */
  content: optional(name, "content"),

  /** How many connections may be open at once, 1 to 100000; one more is answered with 503. Default 1024. */
  maxConnections: optional(integer(1, 100_000), 1024),

  /** Names that the `Host` header may have, without a port; others are answered with 403. Default: every name. */
  allowedHosts,

  /**
   * Takes the reports of players at `POST /vitrine/reports`: those that have the `token`, at least 16 of the characters
   * `A-Z a-z 0-9 - . _ ~ + /`. Default: none are taken.
   */
  reports: Schema.optionalWith(
    expects(Schema.Struct({ token }), "what players need to report, such as { token }"),
    { exact: true }
  )
})
export type ContentServerOptions = typeof ContentServerOptions.Type

/** The options as a user writes them. */
export type ContentServerConfig = typeof ContentServerOptions.Encoded

export const decode = decodeOptions("the options of the content server", ContentServerOptions)

/** The name of the plugin, of its slice of the state and of its status section. */
export const nameOf = ({ content }: Pick<ContentServerOptions, "content">): string => `${content}-server`
