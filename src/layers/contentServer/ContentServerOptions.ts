/**
 * The options of the content server.
 */
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { expects, omittable, optional } from "../../internal/Options.ts"
import { allowedHosts, host, integer, port, token } from "../../internal/optionSchemas.ts"
import * as ConnectionLimit from "../http/ConnectionLimit.ts"

const folder = expects(Schema.NonEmptyString, "the path of a folder")

const site = expects(
  Schema.Union(Schema.NonEmptyString, Schema.Struct({ source: Schema.NonEmptyString })),
  'the path of a folder, or a source of the content, such as { source: "page" }'
)

const name = expects(
  Schema.String.pipe(Schema.pattern(/^[a-z][a-z0-9-]*$/)),
  'the name of a content plugin, such as "content"'
)

/**
 * The options of `contentServer`. All are optional.
 *
 * @since 0.1.0
 * @category models
 */
export interface ContentServerConfig {
  /** Folder of the versions and the manifest, relative to the configuration file. Default `"downloads"`. */
  readonly downloadPath?: string | undefined

  /** Port, 0 to 65535; 0 picks a free one. Default `8730`. */
  readonly port?: number | undefined

  /** Interface to bind. Default `"127.0.0.1"` (this machine only). */
  readonly host?: string | undefined

  /**
   * The page to serve at `/`: a folder, relative to the configuration file, or a source of the content
   * with the files of the page, as in `{ source: "page" }`. Default none.
   */
  readonly site?: string | { readonly source: string } | undefined

  /**
   * Name of the plugin that writes the folder. Its command `NAME.keep` keeps a version on disk while
   * clients read it; this plugin is named `NAME-server`. Default `"content"`.
   */
  readonly content?: string | undefined

  /** Connections at once, 1 to 100000; further connections get 503. Default `1024`. */
  readonly maxConnections?: number | undefined

  /** Names that the `Host` header may have, without a port; others get 403. Default all. */
  readonly allowedHosts?: ReadonlyArray<string> | undefined

  /**
   * The token that players need to send reports, at least 16 of the characters `A-Z a-z 0-9 - . _ ~ + /`.
   * Reports are accepted at `POST /vitrine/reports`. Default none.
   */
  readonly reports?: { readonly token: string | Redacted.Redacted } | undefined

  /**
   * The token that watchers of browsers need to send pictures of their screens, in the form of the token of `reports`, but another.
   * They send them to `/vitrine/pictures`. Without it, no pictures are taken. Default none.
   */
  readonly pictures?: { readonly token: string | Redacted.Redacted } | undefined
}

/** @internal */
export const ContentServerOptions = Schema.Struct({
  downloadPath: optional(folder, "downloads"),
  port: port(8730),
  host,
  site: omittable(site),
  content: optional(name, "content"),
  maxConnections: optional(integer(1, 100_000), ConnectionLimit.maxConnections),
  allowedHosts,
  reports: omittable(expects(Schema.Struct({ token }), "what players need to report, such as { token }")),
  pictures: omittable(
    expects(Schema.Struct({ token }), "what watchers need to send pictures, such as { token }")
  )
})
/** @internal */
export type ContentServerOptions = typeof ContentServerOptions.Type
