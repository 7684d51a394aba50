/** Whether somebody is there, for attract loops. */

import { numberOf } from "../numbers.ts"

export interface IdleListeners {
  /** Time without input. */
  readonly begin: () => void
  /** Somebody does something again. */
  readonly end: () => void
}

const events = ["pointerdown", "pointermove", "keydown", "wheel"]

/** How often gamepads are asked; a press takes longer. */
const gamepadMs = 50

/** What is pressed and pushed, in halves: the noise of a stick at rest is less. Nothing without one, or where a frame may not ask. */
const readGamepads = (): string => {
  try {
    const pads = navigator.getGamepads().flatMap((pad) => pad ?? [])
    const values = pads.flatMap(({ axes, buttons }) => [...axes, ...buttons.map(({ value }) => value)])
    return values.map((value) => Math.round(value * 2)).join()
  } catch {
    return ""
  }
}

/**
 * Calls `begin` when there was no touch, key, pointer, wheel or gamepad for so many milliseconds, and `end` at the next, until the
 * function that it returns is called. What happens in frames inside the page is not seen. From 2 ** 31
 * on, 25 days, and for `Infinity`, `begin` is never called: timers have no such time.
 */
export const idle = (ms: number, { begin, end }: IdleListeners): (() => void) => {
  const life = new AbortController()
  const { signal } = life
  let isIdle = false
  let timer = 0
  let polling = 0
  let gamepads = ""
  /** Browsers tell of pointers that rest while the page moves below them. */
  let place = ""

  const waitMs = numberOf("idle", ms, Number.POSITIVE_INFINITY, 1)

  const wake = () => {
    clearTimeout(timer)
    if (waitMs < 2 ** 31) {
      timer = window.setTimeout(() => {
        isIdle = true
        begin()
      }, waitMs)
    }
    if (isIdle) {
      isIdle = false
      end()
    }
  }

  const happened = (event: Event) => {
    const at = event instanceof MouseEvent ? `${event.screenX} ${event.screenY}` : ""
    if (event.type !== "pointermove" || at !== place) {
      place = at
      wake()
    }
  }

  /** While there is a gamepad. */
  const poll = () => {
    clearTimeout(polling)
    const before = gamepads
    gamepads = readGamepads()
    if (gamepads) {
      polling = window.setTimeout(poll, gamepadMs)
      if (gamepads !== before) {
        wake()
      }
    }
  }

  for (const event of events) {
    addEventListener(event, happened, { capture: true, passive: true, signal })
  }
  addEventListener("gamepadconnected", poll, { signal })
  poll()
  wake()

  return () => {
    life.abort()
    clearTimeout(timer)
    clearTimeout(polling)
  }
}
