/** From one version on the screen to the next: loaded as a whole, then shown at once. */
import type { Options } from "./Options.ts"
import { growing, pause } from "./pauses.ts"
import { type Context, isSame, type Manifest, openVersion, type Version } from "./Version.ts"

export interface SwapOptions<Loaded> extends Pick<Options<Loaded>, "load" | "show" | "canSwap"> {
  readonly maxDefer: number
  /** Where the content is. */
  readonly content: string
  /** What is on the screen, or is to be, has become different. */
  readonly changed: () => void
  /** Default: the version that lies there. */
  readonly versionOf?: (manifest: Manifest, context: Context) => Version | Promise<Version>
}

/** What is on the screen. */
export interface Shown<Loaded> {
  readonly manifest: Manifest
  readonly version: Version
  readonly loaded: Loaded
  /** The addresses that were asked for, by their paths. */
  readonly used: ReadonlyMap<string, string>
  /** Whether it is what the browser has kept. */
  readonly isCached: boolean
}

/** How the versions stand. */
export interface Current<Loaded> {
  readonly shown: Shown<Loaded> | undefined
  /** The id of the version that is to come, if another one is on the screen than is wanted. */
  readonly next: string | undefined
  /** Why that is not there, or what cannot be shown of the one that is. */
  readonly problem: string | undefined
}

const askAgainMs = 500

/** How long the screen may be behind before a version that is loading is not given up for a newer one any more. */
const patienceMs = 10_000

/** How long such a version may take. */
const loadLimitMs = 300_000

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
  let life = new AbortController()
  /** What has begun to load last. */
  let last: { readonly versionId: string; readonly loading: Promise<Loaded> } | undefined
  /** Since when the screen has shown what is not wanted any more. */
  let behindSince = 0
  /** Why the wanted version is not on the screen, and what cannot be shown of the one that is. */
  let failure: string | undefined
  let problem: string | undefined

  const isBehindFor = (ms: number) => performance.now() - behindSince > ms

  /** Loads and shows a version, unless another one has taken its place. */
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
    try {
      show(loaded, version)
    } catch (error) {
      // What is on the screen now may be of both.
      if (shown) {
        show(shown.loaded, shown.version)
      }
      throw error
    }
    shown = { manifest, version, loaded, used, isCached: !!kept }
    behindSince = performance.now()
    problem = reported
    failure = undefined
    changed()
  }

  /**
   * Brings a version to the screen, unless it is there or on its way. What was on its way instead is given up; but where newer
   * ones come faster than they load, one of them is shown before the newest.
   */
  const follow = async (manifest: Manifest, kept?: ReadonlyMap<string, string>) => {
    if (isSame(manifest, wanted)) {
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
      if (wanted !== manifest) {
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
          failure = `Version ${versionId} cannot be shown: ${error instanceof Error ? error.message : error}`
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
    end: () => life.abort()
  }
}
