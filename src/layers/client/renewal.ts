/** Loads the page again when the content server has a new build of it and the page is idle. */
import { canReload, reload } from "./actions.ts"
import type { Options } from "./Options.ts"
import { pause } from "./pauses.ts"

export interface RenewalOptions extends Pick<Options<never>, "canSwap" | "onNewPage"> {
  readonly maxDefer: number
  /** Where the content is. */
  readonly content: string
  readonly signal: AbortSignal
}

/** The build that the page was loaded for last, so that one that is not what it says to be is loaded only once. */
const key = "vitrine build"

/** Time without input after which a page is idle. */
const idleMs = 60_000

/** The screens of a museum load it one after the other. */
const spreadMs = 30_000

const lookMs = 2000

const touches = ["keydown", "pointerdown", "pointermove", "wheel"]

export interface Renewal {
  /** Takes the current build. */
  readonly built: (build: string | null) => void
  /** Whether the page is to be loaded again, and travels with the content: what comes now is for the new build. */
  readonly isDue: () => boolean
}

/**
 * A page that does not know which build it is part of, because no content
 * server has sent it, or because its content is of another origin, is never loaded again.
 */
export const makeRenewal = ({
  canSwap = () => true,
  content,
  maxDefer,
  onNewPage,
  signal
}: RenewalOptions): Renewal => {
  const isHere = new URL(content, location.href).origin === location.origin
  let own = isHere ? saidOfPage("build") : undefined
  const travels = saidOfPage("version") !== undefined
  let isDue = false
  let latest = own
  /** With the page, its time begins. */
  let touchedAt = 0
  let isLoading = false
  /** The build that could not be loaded, which the console says once. */
  let warned: string | undefined

  if (own === undefined) {
    return { built: () => {}, isDue: () => false }
  }

  for (const event of touches) {
    addEventListener(
      event,
      () => {
        touchedAt = performance.now()
      },
      { capture: true, passive: true, signal }
    )
  }

  const isFor = (since: number, ms: number) => performance.now() - since > ms

  /** Whether it is on its way: what does not answer is not loaded. One that is asked for again would begin anew. */
  const load = async (build: string): Promise<boolean> => {
    if (!isLoading) {
      isLoading = true
      try {
        isLoading = await canReload()
        if (isLoading) {
          sessionStorage.setItem(key, build)
          reload()
        }
      } catch (error) {
        isLoading = false
        if (warned !== build) {
          warned = build
          console.warn(`The new build of this page cannot be loaded yet: ${error}`)
        }
      }
    }
    return isLoading
  }

  const renew = async (build: string) => {
    await pause(spreadMs * Math.random())
    if (onNewPage && latest === build && !signal.aborted) {
      return onNewPage(() => load(build))
    }
    const since = performance.now()
    const isQuiet = () =>
      document.visibilityState === "hidden" ||
      (isFor(touchedAt, idleMs) && (canSwap() || isFor(since, maxDefer)))
    while (latest === build && !signal.aborted && !(isQuiet() && (await load(build)))) {
      await pause(lookMs)
    }
  }

  return {
    built: (build) => {
      own ||= build ?? ""
      if (build && build !== latest) {
        latest = build
        isDue = build !== own && build !== lastLoaded(build)
        if (isDue) {
          renew(build)
        }
      }
    },
    isDue: () => isDue && travels
  }
}

/** What the server has said with the page: which build it is part of, empty where it did not know it yet, and which version. */
const saidOfPage = (name: string): string | undefined =>
  // Firefox has none on pages that are not secure.
  navigation()?.serverTiming?.find((timing) => timing.name === name)?.description

/** How the page was loaded. */
export const navigation = (): PerformanceNavigationTiming | undefined => {
  const [entry] = performance.getEntriesByType("navigation")
  return entry instanceof PerformanceNavigationTiming ? entry : undefined
}

/** Without a storage, no page is loaded again: it could be for ever. */
const lastLoaded = (otherwise: string): string | null => {
  try {
    return sessionStorage.getItem(key)
  } catch {
    return otherwise
  }
}
