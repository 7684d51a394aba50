/**
 * Tells the controller which version is on this screen, so that it is not swept away underneath it. It owns the
 * name of this screen and the rhythm; nobody waits for an ack, and one that fails is made good by the next.
 */

import { transportUrl } from "./endpoint.js"

const storageKey = "consumerId"
const everyMs = 5 * 60 * 1000

const newConsumerId = () => {
  const bytes = crypto.getRandomValues(new Uint8Array(6))
  return `screen-${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`
}

/** The same for every visit of this browser; for this visit only where storage is switched off. */
const readConsumerId = () => {
  try {
    const known = localStorage.getItem(storageKey)
    if (known !== null && /^[a-z0-9-]+$/.test(known)) {
      return known
    }
    const fresh = newConsumerId()
    localStorage.setItem(storageKey, fresh)
    return fresh
  } catch {
    return newConsumerId()
  }
}

/** Returns `{ shown(versionId), again() }`: the first after each swap, the second when the transport is back. */
export const keepAcknowledging = () => {
  const consumerId = readConsumerId()
  let current = null
  let timer

  const send = async () => {
    if (current === null) {
      return
    }
    clearTimeout(timer)
    timer = setTimeout(send, everyMs)
    try {
      await fetch(`${await transportUrl()}/command`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ type: "content.ack", consumerId, versionId: current }),
        signal: AbortSignal.timeout(8000)
      })
    } catch {}
  }

  return {
    shown: (versionId) => {
      current = versionId
      send()
    },
    again: send
  }
}
