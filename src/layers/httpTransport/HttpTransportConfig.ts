/**
 * The options of the HTTP/SSE transport as a user writes them, for programs with any Effect or none.
 *
 * `Secret` is text, or for programs with the Effect of Vitrine `Redacted` as well.
 */

/** All of them may be left out. */
export interface HttpTransportConfig<Secret = string> {
  /** Listening port, 0 to 65535; 0 picks a free one. Default 8710. */
  readonly port?: number

  /**
   * Name of the plugin, of its status section and of its slice of the state. Two transports of one controller need two names.
   * Default `http-transport`, whose URL the content server tells pages.
   */
  readonly name?: string

  /** Interface to bind. Default `127.0.0.1`: this machine only. */
  readonly host?: string

  /**
   * Command types that `POST /command` accepts. Any local process and any web page can send them, so only
   * commands without side effects belong here (section 5).
   * Default `content.ack` and `content.manifest.read`.
   */
  readonly allowedCommands?: ReadonlyArray<string>

  /** Names of the events to forward; an entry that ends in `*` is a prefix. Default `content:*`. */
  readonly events?: ReadonlyArray<string>

  /**
   * Exact names (no `*`) of the events whose last emission a new client is given first. They must pass `events`
   * too.
   * Default `content:version:promoted`.
   */
  readonly replayEvents?: ReadonlyArray<string>

  /** Time between two `: ping` comments, 1 to 2147483647 ms. Default 15000. */
  readonly keepAliveMs?: number

  /** How many event streams may be open at once, 1 to 100000; one more is answered with 503. Default 32. */
  readonly maxClients?: number

  /**
   * Whether each request is a span, `http.server GET` for example, but for those with a query: it may have the token.
   * That of an event stream ends with it.
   * Default false.
   */
  readonly traceRequests?: boolean

  /** Whether `GET /state` gives the global state away. Default false. */
  readonly exposeState?: boolean

  /**
   * Origins of the pages that may send requests and read responses, such as `http://127.0.0.1:8730`; `null` is that
   * of `file://` pages, and of every sandboxed frame. Others are answered with 403. Requests that no page sends have
   * no origin and are not affected. Default: pages of every origin may.
   */
  readonly allowedOrigins?: ReadonlyArray<string>

  /**
   * Names that the `Host` header may have, without a port; others are answered with 403. It ends DNS rebinding.
   * Default: every name.
   */
  readonly allowedHosts?: ReadonlyArray<string>

  /** Whether `POST` without `Content-Type: application/json` is answered with 415. Default false. */
  readonly requireJson?: boolean

  /**
   * A secret that every request must carry, as `Authorization: Bearer TOKEN` or, for `GET /events`, as `?token=TOKEN`;
   * others are answered with 401. It is never shown. Default none.
   */
  readonly token?: Secret
}
