import type { Version } from "./Version.ts"

/** The options of `connect`. */
export interface Options<Loaded> {
  /**
   * Address of the HTTP transport, `http://127.0.0.1:8710` for example. Default: what the server of the content says in
   * `/endpoint.json`.
   */
  readonly controller?: string | undefined

  /** Address of the content server, or of any copy of a downloads folder. Default: where the page comes from. */
  readonly content?: string | undefined

  /**
   * The name of this screen, one plain file name: it is in the status of the controller, and must stay the same when the page
   * loads again. Default: `screen` in the address of the page, as in `?screen=left-wall`, or else a name that is made up for
   * this tab.
   */
  readonly consumerId?: string | undefined

  /** Name of the content plugin. Default `content`. */
  readonly name?: string | undefined

  /** The `token` of the transport, where it has one. */
  readonly token?: string | undefined

  /**
   * Loads all that is needed of a version: tables, pictures. Nothing of it is shown yet. Where it fails, it is called again
   * after pauses that grow to half a minute, and the controller gets the reason. The signal is aborted when another version
   * is to be loaded in its place.
   */
  readonly load: (version: Version, context: { readonly signal: AbortSignal }) => Promise<Loaded> | Loaded

  /** Puts on the screen what was loaded, in one go. The version counts as shown when this returns. */
  readonly show?: ((loaded: Loaded, version: Version) => void) | undefined

  /** Whether the screen may change now. It is asked again twice a second, but not for the first version. Default: always. */
  readonly canSwap?: (() => boolean) | undefined

  /** How long `canSwap` may keep a screen behind, in milliseconds. Default 300000, five minutes. */
  readonly maxDefer?: number | undefined

  /**
   * Called once for each new build of the page (docs/page.md), with what loads it where it can be had: the page decides when.
   * Default: it is loaded when the page is hidden, or when there was no touch, key or pointer for a minute and `canSwap` agrees.
   */
  readonly onNewPage?: ((reload: () => void) => void) | undefined

  /**
   * Pause from one poll of the manifest to the next, in milliseconds, up to a fifth shorter or longer; 100 at least, and 24 days at most.
   * Default 5000.
   */
  readonly pollEvery?: number | undefined

  /**
   * How much of the version on the screen is kept in the browser, so that the page can start without a controller, in
   * bytes; of a larger version nothing is kept. Only secure pages can (`https://`, `127.0.0.1`, `localhost`). 0 turns it off.
   * Default 67108864, 64 MiB.
   */
  readonly keepBytes?: number | undefined
}
