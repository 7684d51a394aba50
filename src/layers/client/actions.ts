/** The actions that the controller asks of a screen. An answer has an action at most three times, so that a page does not reload for ever. */
import { limited } from "./request.ts"

/** The result of an ack, if it has actions. */
export interface AckAnswer {
  readonly actions?: ReadonlyArray<string>
  /** Of each action, for the next ack. */
  readonly ids?: ReadonlyArray<string>
  /** The label of the screen. */
  readonly label?: string
}

const identifyMs = 10_000

/** Ignores unknown actions, which a later controller may send. */
export const act = ({ actions = [], label }: AckAnswer, consumerId: string) => {
  if (actions.includes("identify")) {
    identify(label ?? consumerId)
  }
  if (actions.includes("reload")) {
    expectPage().then(reload, console.warn)
  }
}

/** Fails if the server does not give the page within 30 seconds: the page would be lost. A page from a file can always reload. */
export const expectPage = () =>
  limited(async (signal) => {
    if (location.protocol !== "file:") {
      const { ok, status } = await fetch(location.href, { cache: "no-store", signal })
      if (!ok) {
        throw new Error(`HTTP ${status}`)
      }
    }
  })

const reloadedAt = "vitrine reload"

/** Reloads the page for an action or a new build. The new page knows that this is not a restart. */
export const reload = () => {
  try {
    sessionStorage.setItem(reloadedAt, `${Date.now()}`)
  } catch {
    // Without storage, it counts as a restart.
  }
  location.reload()
}

/** Whether `reload` loaded this page. The clocks of a page and of its start may differ by some seconds. */
export const isReloaded = (): boolean =>
  Math.abs(performance.timeOrigin - Number(stored(reloadedAt))) < 10_000

/** A value that the tab keeps across reloads; `undefined` without storage. */
export const stored = (key: string): string | null | undefined => {
  try {
    return sessionStorage.getItem(key)
  } catch {
    return undefined
  }
}

/**
 * Shows the name over everything for ten seconds, also over dialogs and full-screen elements if the browser supports popovers. It
 * takes neither focus nor input.
 */
const identify = (name: string) => {
  const element = document.createElement("div")
  element.dataset.vitrine = "name"
  element.textContent = name
  // Legible from ten metres; a long name has several lines. A policy of the page may forbid style attributes, but allows these styles.
  const size = Math.max(6, Math.min(30, 140 / name.length))
  element.style.cssText = `position:fixed;inset:0;z-index:2147483647;width:auto;height:auto;margin:0;border:0;padding:4vmin;display:grid;place-content:center;background:#ffc83d;color:#000;font:700 ${size}vw/1.1 system-ui,sans-serif;text-align:center;overflow-wrap:anywhere;pointer-events:none`
  document.documentElement.append(element)
  if (element.showPopover) {
    element.popover = "manual"
    element.showPopover()
  }
  setTimeout(() => element.remove(), identifyMs)
}
