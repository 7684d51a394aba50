/**
 * The event stream of the controller. Events only say that something is new; the manifest has the content.
 */
import { growing } from "./request.ts"

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

  // One listener for all sources: a controller may be away for months. A closed page may be kept, for example by React.
  const end = () => {
    source?.close()
    source = undefined
  }
  signal.addEventListener("abort", end)
  open()
  return () => {
    failures = 0
    if (timer) {
      open()
    }
  }
}

/** How a page follows the stream. */
export interface Following {
  /** Connects at once if the stream is lost, and again if the page has left it. For a controller that is back. */
  readonly retry: () => void
  /** Ends the stream of this page. The page polls. */
  readonly leave: () => void
}

/**
 * Follows the stream in only one tab of an origin, because a browser opens at most six connections to an address. Other tabs poll.
 *
 * The tab with a lock has the stream. When the tab is closed or frozen, the next tab gets the lock. Pages that are not secure have
 * no locks: each has its own stream while it is visible.
 */
export const followStream = (
  key: string,
  options: StreamOptions,
  report: (state: StreamState) => void,
  signal: AbortSignal
): Following => {
  const { locks } = navigator
  let turn: AbortController | undefined
  let retry = () => {}

  const leave = () => {
    if (turn) {
      turn.abort()
      turn = undefined
      report("lost")
    }
  }

  const join = () => {
    turn = new AbortController()
    const { signal: left } = turn
    const ended = new Promise<unknown>((resolve) => {
      left.addEventListener("abort", resolve)
    })
    const read = () => {
      retry = readStream(options, report, left)
      return ended
    }
    if (locks) {
      // A page in a frame may have no access to locks.
      locks.request(key, { signal: left }, read).catch(() => (left.aborted ? undefined : read()))
    } else if (!document.hidden) {
      read()
    }
  }

  const again = () => {
    leave()
    join()
  }

  join()
  signal.addEventListener("abort", leave)
  if (locks) {
    document.addEventListener("freeze", leave, { signal })
    document.addEventListener("resume", again, { signal })
  } else {
    document.addEventListener("visibilitychange", again, { signal })
  }
  return { leave, retry: () => (turn ? retry() : join()) }
}
