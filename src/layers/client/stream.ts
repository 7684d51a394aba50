/**
 * The event stream of the controller. It says that something is new; the manifest says what.
 */
import { growing } from "./pauses.ts"

/** The stream is open, says that there is a new version or a new build of the page, says that a screen is asked for something, or is lost. */
export type StreamState = "open" | "new" | `asked ${string}` | "lost"

export interface StreamOptions {
  /** What the names of events begin with. */
  readonly name: string
  /** The address of the stream, which may be another one after a restart of the controller. */
  readonly address: () => Promise<string>
}

/**
 * Reads the stream until the signal is aborted. An `EventSource` gives up for good after a 503 (all streams are in use), so each
 * failure is followed by a new `EventSource`, after a pause that grows. The function that is returned ends such a pause.
 */
const readStream = (
  { address, name }: StreamOptions,
  report: (state: StreamState) => void,
  signal: AbortSignal
): (() => void) => {
  let failures = 0
  let timer: number | undefined

  const open = async () => {
    clearTimeout(timer)
    timer = undefined
    let source: EventSource | undefined
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
    signal.addEventListener("abort", () => source.close(), { once: true })
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

  open()
  return () => {
    failures = 0
    if (timer) {
      open()
    }
  }
}

/**
 * Follows the stream in one tab of an origin, because a browser opens six connections to one address at most. The other tabs poll.
 *
 * The tab that holds a lock has the stream. When the tab is closed or frozen, the next tab gets the lock. Pages that are not
 * secure have no locks: each of them has a stream while it is visible. The function that is returned connects at once if the
 * stream is lost: the controller is back.
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
