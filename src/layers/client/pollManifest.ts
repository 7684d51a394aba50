/** Polls the manifest, which alone decides which version is shown. */
import { about, messageOf, request } from "./request.ts"
import type { Manifest } from "./Version.ts"

export interface PollOptions {
  /** The address of the content. */
  readonly content: string
  /** In milliseconds, up to a fifth shorter or longer. */
  readonly pollEvery: number
  /** Called with the manifest, or with nothing if no version was promoted yet. A rejection counts as a failed poll. */
  readonly found: (manifest: Manifest | undefined) => Promise<void> | void
  /** Called for each answer with the build of the page, or `null` if the server does not send it. */
  readonly built: (build: string | null) => void
  /** Called with the reason of a failure, which contains the address. */
  readonly failed: (reason: string) => void
  readonly signal: AbortSignal
}

/**
 * Polls now, and again until the signal is aborted. The returned function polls at once. Polls never overlap, so that none sees
 * an older manifest than the poll before.
 */
export const pollManifest = ({ built, content, failed, found, pollEvery, signal }: PollOptions) => {
  const address = `${content}/manifest.json`
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
      // The browser sends the ETag of its copy, and uses the copy if nothing has changed.
      const manifest = await request<Manifest>(address, { cache: "no-cache", signal }, ({ headers }) =>
        built(headers.get("Vitrine-Build"))
      )
      // Web apps have a file with this name, too.
      if (manifest && !manifest.versionId) {
        throw new Error(`${address} is no manifest of Vitrine`)
      }
      await found(manifest)
    } catch (error) {
      failed(messageOf(error))
    }
    isPolling = false
    if (isPollWaiting) {
      poll()
    } else {
      timer = window.setTimeout(poll, about(pollEvery))
    }
  }

  poll()
  return poll
}
