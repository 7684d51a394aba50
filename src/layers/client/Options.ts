import type { Version } from "./Version.ts"

/**
 * The options of `connect`.
 *
 * @since 0.1.0
 * @category models
 */
export interface Options<Loaded> {
  /**
   * Address of the HTTP transport, for example `http://127.0.0.1:8710`. Default: the address in `/endpoint.json` of the
   * content server.
   */
  readonly controller?: string | undefined

  /** Address of the content server, or of any copy of a downloads folder. Default: the origin of the page. */
  readonly content?: string | undefined

  /**
   * The name of this screen, a plain file name. The status of the controller lists it, and it must stay the same when the page
   * reloads. Default: `screen` in the address of the page, as in `?screen=left-wall`, or else a random name for this tab.
   */
  readonly consumerId?: string | undefined

  /** Name of the content plugin. Default `content`. */
  readonly name?: string | undefined

  /** The `token` of the transport, if it has one. */
  readonly token?: string | undefined

  /**
   * Loads everything that the page needs of a version, such as tables and pictures, and shows nothing yet. If it fails, it is
   * called again after pauses that grow to 30 seconds, and the controller gets the reason. The signal is aborted when another
   * version must be loaded instead.
   */
  readonly load: (version: Version, context: { readonly signal: AbortSignal }) => Promise<Loaded> | Loaded

  /** Shows the loaded version in one step. The version counts as shown when this returns. */
  readonly show?: ((loaded: Loaded, version: Version) => void) | undefined

  /** Whether the screen may change now. Called twice a second until it returns true; not called for the first version. Default: always. */
  readonly canSwap?: (() => boolean) | undefined

  /** How long `canSwap` may delay a new version, in milliseconds. Default 300000, five minutes. */
  readonly maxDefer?: number | undefined

  /**
   * Called once for each new build of the page (docs/page.md), with a function that loads the build if the server responds; the
   * page decides when. Default: loads it when the page is hidden, or after a minute without input if `canSwap` returns true.
   */
  readonly onNewPage?: ((reload: () => void) => void) | undefined

  /**
   * Pause between two polls of the manifest, in milliseconds, up to a fifth shorter or longer; at least 100, at most 24 days.
   * Default 5000.
   */
  readonly pollEvery?: number | undefined

  /**
   * The largest version that the browser keeps, in bytes, so that the page can start without a controller. Nothing is kept of a
   * larger version. Only secure pages can keep versions (`https://`, `127.0.0.1`, `localhost`). 0 turns it off. Default
   * 67108864, 64 MiB.
   */
  readonly keepBytes?: number | undefined
}

/** The value, or with a warning `otherwise`, if the value is not a number or is too small. */
export const numberOf = (name: string, value: unknown, otherwise: number, least: number): number => {
  if (typeof value === "number" && value >= least) {
    return value
  }
  console.warn(`${name} is ${otherwise}: ${value} is no number from ${least} on`)
  return otherwise
}

export const withNumbers = <Loaded>(options: Options<Loaded>) => {
  const number = (name: "keepBytes" | "maxDefer" | "pollEvery", otherwise: number, least: number) => {
    const { [name]: value = otherwise } = options
    return numberOf(name, value, otherwise, least)
  }
  return {
    ...options,
    keepBytes: number("keepBytes", 67_108_864, 0),
    maxDefer: number("maxDefer", 300_000, 0),
    pollEvery: number("pollEvery", 5000, 100)
  }
}
