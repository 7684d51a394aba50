/**
 * The slide show. It owns the order, the current object and the timer, and calls `onTurn(key)` to show an object.
 */

/** `{ replace(keys, seconds), go(key), stay(), step(count) }`. */
export const slideShow = (onTurn) => {
  let keys = []
  let seconds = 16
  let current = null
  let timer

  /** The current object has a whole turn from now on. */
  const stay = () => {
    clearTimeout(timer)
    timer = setTimeout(() => step(1), seconds * 1000)
  }

  const go = (key) => {
    current = key
    stay()
    onTurn(key)
  }

  const step = (count) => {
    if (keys.length > 0) {
      go(keys.at((keys.indexOf(current) + count) % keys.length))
    }
  }

  /**
   * Keeps the current object and its time if it still exists. If it was removed, the object that took its place in the
   * order becomes the current object.
   */
  const replace = (nextKeys, nextSeconds) => {
    const place = Math.max(0, keys.indexOf(current))
    keys = nextKeys
    seconds = nextSeconds
    if (keys.includes(current)) {
      return
    }
    if (keys.length === 0) {
      clearTimeout(timer)
      current = null
    } else {
      go(keys[place % keys.length])
    }
  }

  return { replace, go, stay, step }
}
