/** Polls the manifest, which alone says what is to be shown. */
import { about } from "./pauses.ts"
import { request } from "./request.ts"
import type { Manifest } from "./Version.ts"

export interface PollOptions {
  /** The address of the manifest. */
  readonly address: string
  /** In milliseconds, up to a fifth shorter or longer. */
  readonly every: number
  /** What was seen; nothing where no version was promoted yet. It may fail as the request may. */
  readonly found: (manifest: Manifest | undefined) => Promise<void> | void
  /** Which build of the page the content server has, where it says so; of each answer. */
  readonly built: (build: string | null) => void
  /** With the reason, which names the address. */
  readonly failed: (reason: string) => void
  readonly signal: AbortSignal
}

/**
 * Polls now, and again until the signal is aborted. What is returned polls at once. One poll follows the other, so that none
 * sees what is older than the one before.
 */
export const pollManifest = ({ address, built, every, failed, found, signal }: PollOptions): (() => void) => {
  let isPolling = false
  let isPollWaiting = false
  let timer: number

  const poll = async () => {
    isPollWaiting = isPolling
    if (isPolling || signal.aborted) {
      return
    }
    isPolling = true
    clearTimeout(timer)
    try {
      // The browser asks with the tag of what it has, and takes that where nothing has changed.
      const manifest = await request<Manifest>(address, { cache: "no-cache", signal }, ({ headers }) =>
        built(headers.get("Vitrine-Build"))
      )
      // Web apps have a file of this name, too.
      if (manifest && !manifest.versionId) {
        throw new Error(`${address} is no manifest of Vitrine`)
      }
      await found(manifest)
    } catch (error) {
      failed(error instanceof Error ? error.message : `${error}`)
    }
    isPolling = false
    if (isPollWaiting) {
      poll()
    } else {
      timer = window.setTimeout(poll, about(every))
    }
  }

  poll()
  return poll
}
