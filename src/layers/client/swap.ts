/** Changes the version on the screen: loads the next version completely, then shows it at once. */
import type { Options } from "./Options.ts"
import { growing, messageOf, pause } from "./request.ts"
import { type Context, isSame, type Manifest, openVersion, type Version } from "./Version.ts"

export interface SwapOptions<Loaded> extends Pick<Options<Loaded>, "load" | "show" | "canSwap"> {
  readonly maxDefer: number
  /** The address of the content. */
  readonly content: string
  /** Called when `Current` has changed. */
  readonly changed: () => void
  /** Opens a version. Default: opens it from the address of the content. */
  readonly versionOf?: (manifest: Manifest, context: Context) => Version | Promise<Version>
}

/** The version on the screen. */
export interface Shown<Loaded> {
  readonly manifest: Manifest
  readonly version: Version
  readonly loaded: Loaded
  /** The addresses that the page used, by their paths. */
  readonly used: ReadonlyMap<string, string>
  /** Whether it is from the browser's cache. */
  readonly isCached: boolean
}

/** The current and the next version. */
export interface Current<Loaded> {
  readonly shown: Shown<Loaded> | undefined
  /** The id of the next version, if it is not on the screen yet. */
  readonly next: string | undefined
  /** Why the next version is not on the screen, or a problem of the version on the screen. */
  readonly problem: string | undefined
}

const askAgainMs = 500

/** After this time behind, the screen finishes the version that is loading, even if there is a newer version. Milliseconds. */
const patienceMs = 10_000

/** How long such a version may load, in milliseconds. */
const loadLimitMs = 300_000

/** Shows the loaded version. If this fails, the screen may have parts of both versions, so the version before is shown again. */
const showOrReturn = <Loaded>(
  show: (loaded: Loaded, version: Version) => void,
  loaded: Loaded,
  version: Version,
  before: Shown<Loaded> | undefined
) => {
  try {
    show(loaded, version)
  } catch (error) {
    if (before) {
      show(before.loaded, before.version)
    }
    throw error
  }
}

export const makeSwap = <Loaded>({
  canSwap = () => true,
  changed,
  content,
  load,
  maxDefer,
  show = () => {},
  versionOf = openVersion
}: SwapOptions<Loaded>) => {
  let shown: Shown<Loaded> | undefined
  let wanted: Manifest | undefined
  /** Aborted, and replaced in the same step, when another version is wanted; aborted for good by `end`. */
  let life = new AbortController()
  /** The last load that has begun. */
  let last: { readonly versionId: string; readonly loading: Promise<Loaded> } | undefined
  /** Since when the screen shows an outdated version. */
  let behindSince = 0
  /** Why the wanted version is not on the screen, and the problem of the version on the screen. */
  let failure: string | undefined
  let problem: string | undefined

  const isBehindFor = (ms: number) => performance.now() - behindSince > ms

  /** Loads and shows a version, unless another version has replaced it. */
  const bring = async (manifest: Manifest, signal: AbortSignal, kept?: ReadonlyMap<string, string>) => {
    const used = new Map<string, string>()
    let reported: string | undefined
    let opened: Version | undefined
    const report = (text: string) => {
      reported = text
      if (opened && shown?.version === opened) {
        problem = text
        changed()
      }
    }
    const opening = (async () => versionOf(manifest, { content, kept, report, signal, used }))()
    const loading = opening.then((version) => {
      opened = version
      return load(version, { signal })
    })
    last = { versionId: manifest.versionId, loading }
    const loaded = await loading
    const version = await opening
    while (shown && !signal.aborted && !isBehindFor(maxDefer) && !canSwap()) {
      await pause(askAgainMs)
    }
    if (signal.aborted) {
      return
    }
    showOrReturn(show, loaded, version, shown)
    shown = { manifest, version, loaded, used, isCached: !!kept }
    behindSince = performance.now()
    problem = reported
    failure = undefined
    changed()
  }

  /**
   * Brings a version to the screen, unless it is there or is loading. Gives up another version that is loading. If versions come
   * faster than they load, one of them is shown before the newest.
   */
  const follow = async (manifest: Manifest, kept?: ReadonlyMap<string, string>) => {
    if (life.signal.aborted || isSame(manifest, wanted)) {
      return
    }
    if (isSame(wanted, shown?.manifest)) {
      behindSince = performance.now()
    }
    const { versionId } = manifest
    wanted = manifest
    failure = undefined
    changed()
    if (last && last.versionId < versionId && isBehindFor(patienceMs)) {
      // `bring` is called first, and shows it if it may.
      await Promise.race([last.loading.catch(() => {}), pause(loadLimitMs)])
      if (life.signal.aborted || wanted !== manifest) {
        return
      }
    }
    life.abort()
    life = new AbortController()
    const { signal } = life
    for (let failures = 0; !signal.aborted && !isSame(shown?.manifest, manifest); failures++) {
      try {
        await bring(manifest, signal, kept)
      } catch (error) {
        if (!signal.aborted) {
          failure = `Version ${versionId} cannot be shown: ${messageOf(error)}`
          console.warn(failure)
          changed()
          await pause(growing(failures))
        }
      }
    }
  }

  return {
    follow,
    current: (): Current<Loaded> => ({
      shown,
      next: isSame(wanted, shown?.manifest) ? undefined : wanted?.versionId,
      problem: failure ?? problem
    }),
    /** Whether no version was followed yet. */
    isEmpty: () => !wanted,
    end: () => life.abort()
  }
}
