/** What somebody at the controller asks a screen for. An answer says each once, so that a page which loads again does not do so for ever. */
import { limited } from "./request.ts"

/** The result of an ack, where there is something to do. */
export interface AckAnswer {
  readonly actions?: ReadonlyArray<string>
  /** What people call the screen. */
  readonly label?: string
}

const identifyMs = 10_000

/** What a later controller may ask for is left. */
export const act = ({ actions = [], label }: AckAnswer, consumerId: string) => {
  if (actions.includes("identify")) {
    identify(label ?? consumerId)
  }
  if (actions.includes("reload")) {
    canReload().then((can) => can && reload(), console.warn)
  }
}

/** A page whose server is away, or does not respond within half a minute, would be lost. A page that is a file is there. */
export const canReload = async (): Promise<boolean> =>
  location.protocol === "file:" ||
  limited(async (signal) => (await fetch(location.href, { cache: "no-store", signal })).ok)

const reloadedAt = "vitrine reload"

/** Loads the page again because somebody, or a new build, asks for it: the new page knows that it is no restart. */
export const reload = () => {
  try {
    sessionStorage.setItem(reloadedAt, `${Date.now()}`)
  } catch {
    // Without a storage, it counts as a restart.
  }
  location.reload()
}

/** Whether this page was loaded by `reload`. Clocks of a page and of its start may differ by some seconds. */
export const isReloaded = (): boolean => {
  try {
    return Math.abs(performance.timeOrigin - Number(sessionStorage.getItem(reloadedAt))) < 10_000
  } catch {
    return false
  }
}

/**
 * Shows the name over everything for ten seconds: above dialogs and full-screen elements, too, where the browser has popovers. It takes
 * neither the focus nor what is touched.
 */
const identify = (name: string) => {
  const element = document.createElement("div")
  element.dataset.vitrine = "name"
  element.textContent = name
  // Large enough for ten metres; a long name has several lines. A policy of the page forbids styles in attributes, not these.
  const size = Math.max(6, Math.min(30, 140 / name.length))
  element.style.cssText = `position:fixed;inset:0;z-index:2147483647;width:auto;height:auto;margin:0;border:0;padding:4vmin;display:grid;place-content:center;background:#ffc83d;color:#000;font:700 ${size}vw/1.1 system-ui,sans-serif;text-align:center;overflow-wrap:anywhere;pointer-events:none`
  document.documentElement.append(element)
  if (element.showPopover) {
    element.popover = "manual"
    element.showPopover()
  }
  setTimeout(() => element.remove(), identifyMs)
}
