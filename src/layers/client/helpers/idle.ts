/** Detects whether somebody uses the screen, for attract loops. */
import { numberOf } from "../Options.ts"

/**
 * The functions that are called when input ends, and when it begins again.
 *
 * @since 0.1.0
 * @category models
 */
export interface IdleListeners {
  /** Called after the time without input. */
  readonly begin: () => void
  /** Called at the next input. */
  readonly end: () => void
}

const events = ["pointerdown", "pointermove", "keydown", "wheel"]

/** Milliseconds between polls of gamepads; a press lasts longer. */
const gamepadMs = 50

/** Buttons and axes of all gamepads, rounded to halves, because an unused stick has noise. Empty without a gamepad, or if a frame has no permission. */
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
 * Calls `begin` after `ms` milliseconds without touch, key, pointer, wheel or gamepad, and `end` at the next input, until the
 * returned function is called. Input in frames inside the page is not noticed. From 2 ** 31 (25 days) on, and for `Infinity`,
 * `begin` is never called: timers have no such duration.
 *
 * @since 0.1.0
 * @category utils
 */
export const idle = (ms: number, { begin, end }: IdleListeners): (() => void) => {
  const life = new AbortController()
  const { signal } = life
  let isIdle = false
  let timer = 0
  let polling = 0
  let gamepads = ""
  /** The last place of the pointer: browsers also report a still pointer if the page moves below it. */
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

  /** Polls while there is a gamepad. */
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
