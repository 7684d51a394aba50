/**
 * The event stream of the controller. Events only say that something is new; the manifest has the content.
 */
import { growing } from "./pauses.ts"

/** The stream is open, has an event for a new version or a new build, has an action for a screen, or is lost. */
export type StreamState = "open" | "new" | `asked ${string}` | "lost"

export interface StreamOptions {
  /** The prefix of event names. */
  readonly name: string
  /** The address of the stream, which may change with a restart of the controller. */
  readonly address: () => Promise<string>
}

/**
 * Reads the stream until the signal is aborted. An `EventSource` gives up for good after a 503 (all streams are in use), so each
 * failure is followed by a new `EventSource`, after a growing pause. The returned function ends such a pause.
 */
const readStream = (
  { address, name }: StreamOptions,
  report: (state: StreamState) => void,
  signal: AbortSignal
): (() => void) => {
  let failures = 0
  let timer: number | undefined
  let source: EventSource | undefined

  const open = async () => {
    clearTimeout(timer)
    timer = undefined
    const again = () => {
      source?.close()
      if (!signal.aborted) {
        report("lost")
        timer = window.setTimeout(open, growing(failures++))
      }
    }
    try {
      const url = await address()
      if (signal.aborted) {
        return
      }
      source = new EventSource(url)
    } catch {
      return again()
    }
    source.onopen = () => {
      failures = 0
      report("open")
    }
    source.onerror = again
    for (const event of ["version:promoted", "page:built"]) {
      source.addEventListener(`${name}:${event}`, () => report("new"))
    }
    source.addEventListener(`${name}:screen:asked`, ({ data }) => report(`asked ${JSON.parse(data).screen}`))
  }

  // One listener for all sources: a controller may be away for months.
  signal.addEventListener("abort", () => source?.close(), { once: true })
  open()
  return () => {
    failures = 0
    if (timer) {
      open()
    }
  }
}

/**
 * Follows the stream in only one tab of an origin, because a browser opens at most six connections to an address. Other tabs poll.
 *
 * The tab with a lock has the stream. When the tab is closed or frozen, the next tab gets the lock. Pages that are not secure have
 * no locks: each has its own stream while it is visible. Call the returned function when the controller is back: it connects at
 * once if the stream is lost.
 */
export const followStream = (
  key: string,
  options: StreamOptions,
  report: (state: StreamState) => void,
  signal: AbortSignal
): (() => void) => {
  const { locks } = navigator
  let retry = () => {}
  let leave = () => {}

  const join = () => {
    const turn = new AbortController()
    const ended = new Promise<void>((resolve) => {
      leave = () => {
        turn.abort()
        report("lost")
        resolve()
      }
    })
    const read = () => {
      retry = readStream(options, report, turn.signal)
      return ended
    }
    if (locks) {
      // A page in a frame may have no access to locks.
      locks
        .request(key, { signal: turn.signal }, read)
        .catch(() => (turn.signal.aborted ? undefined : read()))
    } else if (!document.hidden) {
      read()
    }
  }

  join()
  signal.addEventListener("abort", () => leave(), { once: true })
  if (locks) {
    document.addEventListener("freeze", () => leave(), { signal })
    document.addEventListener("resume", join, { signal })
  } else {
    const change = () => {
      leave()
      join()
    }
    document.addEventListener("visibilitychange", change, { signal })
  }
  return () => retry()
}
