/** Loads the page again when the content server has a new build of it and the page is idle. */
import { expectPage, reload, stored } from "./actions.ts"
import { idle } from "./helpers/idle.ts"
import type { Options } from "./Options.ts"
import { pause } from "./request.ts"

export interface RenewalOptions extends Pick<Options<never>, "canSwap" | "onNewPage"> {
  readonly maxDefer: number
  /** The address of the content. */
  readonly content: string
  readonly signal: AbortSignal
}

/** Storage key of the build that the page was last loaded for, so that a page with a wrong build is loaded only once. */
const key = "vitrine build"

/** Time without input after which a page is idle. */
const idleMs = 60_000

/** Milliseconds over which the screens of a museum spread the reload. */
const spreadMs = 30_000

const lookMs = 2000

/**
 * Reloads the page for new builds. A page that does not know its build is never reloaded: it does not come from a content server,
 * or its content has another origin.
 */
export const makeRenewal = ({
  canSwap = () => true,
  content,
  maxDefer,
  onNewPage,
  signal
}: RenewalOptions) => {
  const isHere = new URL(content, location.href).origin === location.origin
  let own = isHere ? serverTiming("build") : undefined
  const isInVersion = serverTiming("version") !== undefined
  let isDue = false
  let latest = own
  let isIdle = false
  let isLoading = false
  /** Why the new build could not be loaded. */
  let failure: string | undefined

  if (own === undefined) {
    return { built: () => {}, isDue: () => false, problem: () => undefined }
  }

  const stop = idle(idleMs, {
    begin: () => {
      isIdle = true
    },
    end: () => {
      isIdle = false
    }
  })
  signal.addEventListener("abort", stop)

  /** Returns whether the reload has begun. It does not begin if the server does not respond, or twice: that would start again. */
  const load = async (build: string): Promise<boolean> => {
    if (!isLoading) {
      isLoading = true
      try {
        await expectPage()
        sessionStorage.setItem(key, build)
        reload()
      } catch (error) {
        isLoading = false
        const text = `the new build of the page is not loaded: ${error}`
        if (failure !== text) {
          console.warn(text)
        }
        failure = text
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
      document.visibilityState === "hidden" || (isIdle && (canSwap() || performance.now() - since > maxDefer))
    while (latest === build && !signal.aborted && !(isQuiet() && (await load(build)))) {
      await pause(lookMs)
    }
  }

  return {
    /** Call with the current build. */
    built: (build: string | null) => {
      own ||= build ?? ""
      if (build && build !== latest) {
        latest = build
        // Without storage, the page is never reloaded: it could reload for ever.
        const last = stored(key)
        isDue = build !== own && last !== undefined && last !== build
        if (isDue) {
          renew(build)
        }
      }
    },
    /** True if a reload is pending and the page is part of the version; new content then waits. */
    isDue: () => isDue && isInVersion,
    /** Why the page is an older build, if a reload does not change that, or is not possible. */
    problem: () =>
      isDue
        ? failure
        : latest === own
          ? undefined
          : "the new build of the page is not loaded: a cache or a service worker keeps the old one"
  }
}

/** A value from the `Server-Timing` of the page: its build, empty if the server did not know it yet, or its version. */
const serverTiming = (name: string): string | undefined =>
  // Firefox has no `serverTiming` on pages that are not secure.
  navigation()?.serverTiming?.find((timing) => timing.name === name)?.description

/** How the page was loaded. */
export const navigation = (): PerformanceNavigationTiming | undefined => {
  const [entry] = performance.getEntriesByType("navigation")
  return entry instanceof PerformanceNavigationTiming ? entry : undefined
}
