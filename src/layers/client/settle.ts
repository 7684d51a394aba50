/** Keeps the version on the screen in the browser, and tells a surrounding page that the page works. */
import type { Offline } from "./offline.ts"
import { growing } from "./request.ts"
import type { Shown } from "./swap.ts"
import { makeWarnOnce } from "./warnOnce.ts"

/** Milliseconds that a version is on the screen before the browser keeps it. */
const settledMs = 3000

/** Milliseconds between checks whether the page is drawn, the ack must be renewed, and more files must be kept. */
export const lookMs = 5000

/** Gives the function to call with the version on the screen. Keeps versions of at most `keepBytes`, after some seconds on the screen, until the signal is aborted. */
export const makeSettle = <Loaded>(offline: Offline, keepBytes: number, signal: AbortSignal) => {
  let settling: Shown<Loaded> | undefined
  let timer: number
  const warn = makeWarnOnce()
  signal.addEventListener("abort", () => clearTimeout(timer))

  /** Saves the version, and again whenever the page has used more of its files. */
  const save = async (shown: Shown<Loaded>, saved = -1, failures = 0) => {
    const { size } = shown.used
    try {
      const reason = size > saved ? await offline.save(shown.manifest, shown.used, keepBytes) : undefined
      warn(reason && `The browser does not keep version ${shown.version.id} yet: ${reason}`)
      if (shown === settling && !signal.aborted) {
        timer = reason
          ? window.setTimeout(save, growing(failures), shown, saved, failures + 1)
          : window.setTimeout(save, lookMs, shown, size)
      }
    } catch (error) {
      warnOfCache(error)
    }
  }

  return (shown: Shown<Loaded> | undefined) => {
    if (shown !== settling) {
      tell("shown")
      settling = shown
      clearTimeout(timer)
      if (shown && !shown.isCached && keepBytes > 0 && isSecureContext) {
        timer = window.setTimeout(save, settledMs, shown)
      }
    }
  }
}

export const warnOfCache = (error: unknown) => console.warn(`The browser keeps no version: ${error}`)

/** Tells the surrounding page, for example of a kiosk, about the state; `again` if it only repeats that the page works. */
export const tell = (vitrine: "shown" | "gone", again = false) => {
  if (parent !== window) {
    parent.postMessage({ vitrine, again }, "*")
  }
}
