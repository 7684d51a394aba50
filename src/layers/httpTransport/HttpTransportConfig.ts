/**
 * The options of the HTTP/SSE transport as a user writes them, for programs with any version of Effect or without Effect.
 *
 * `Secret` is text. Programs with the same Effect as Vitrine may also use `Redacted`.
 */
import type { DurationConfig } from "../../internal/DurationConfig.ts"

/**
 * All options are optional.
 *
 * @since 0.1.0
 * @category models
 */
export interface HttpTransportConfig<Secret = string> {
  /** Port, 0 to 65535; 0 picks a free one. Default `8710`. */
  readonly port?: number | undefined

  /**
   * Name of the plugin, its status section and its slice of the state; two transports need two names. The
   * content server gives pages the URL of the transport with the default name. Default `"http-transport"`.
   */
  readonly name?: string | undefined

  /** Interface to bind. Default `"127.0.0.1"` (this machine only). */
  readonly host?: string | undefined

  /**
   * Commands that `POST /command` accepts. Any local process and any web page can send them, so only
   * commands without side effects belong here (docs/wire.md, section 5); `content.screen` is refused. Default `["content.ack",
   * "content.manifest.read"]`.
   */
  readonly allowedCommands?: ReadonlyArray<string> | undefined

  /** Events to forward; an entry that ends in `*` is a prefix. Default `["content:*"]`. */
  readonly events?: ReadonlyArray<string> | undefined

  /**
   * Events whose last emission is sent to a new client first; exact names. A name that no entry of
   * `events` includes is neither sent nor remembered, with a warning.
   * Default `["content:version:promoted"]`.
   */
  readonly replayEvents?: ReadonlyArray<string> | undefined

  /** Time between two `: ping` comments: milliseconds, or a duration such as `"15 seconds"`. Default `15000`. */
  readonly keepAliveMs?: DurationConfig | undefined

  /** Event streams at once, 1 to 100000; further requests get 503. Default `32`. */
  readonly maxClients?: number | undefined

  /**
   * Whether requests get spans, such as `http.server GET`. Requests with a query get none, because it may
   * have the token. The span of an event stream ends with the stream. Default no.
   */
  readonly traceRequests?: boolean | undefined

  /** Whether `GET /state` returns the state. Default `false`. */
  readonly exposeState?: boolean | undefined

  /**
   * Origins of pages that may send requests and read responses, such as `http://127.0.0.1:8730`; others
   * get 403. `null` is the origin of `file://` pages, and of every sandboxed frame. Requests without an
   * origin are not affected. Default all.
   */
  readonly allowedOrigins?: ReadonlyArray<string> | undefined

  /**
   * Names that the `Host` header may have, without a port; others get 403. This prevents DNS rebinding.
   * Default all.
   */
  readonly allowedHosts?: ReadonlyArray<string> | undefined

  /** Whether a `POST` without `Content-Type: application/json` gets 415. Default no. */
  readonly requireJson?: boolean | undefined

  /**
   * A secret that every request must carry; others get 401. It is sent as `Authorization: Bearer TOKEN`
   * or, for `GET /events`, as `?token=TOKEN`, and never shown. Default none.
   */
  readonly token?: Secret | undefined
}
