/**
 * The event stream of the controller. It says that something is new; the manifest says what.
 */
import { growing } from "./pauses.ts"

/** What the stream tells: it is open, there is a new version or a new build of the page, or it is lost. */
export type StreamState = "open" | "new" | "lost"

export interface StreamOptions {
  /** What the names of events begin with. */
  readonly name: string
  /** The address of the stream, which may be another one after a restart of the controller. */
  readonly address: () => Promise<string>
}

/**
 * Follows the stream until the signal is aborted. An `EventSource` gives up for good after a 503 (all streams are in use), so
 * that each failure is followed by a new one, after a pause that grows. What is returned ends such a pause, and lets the next begin
 * again: the controller is back.
 */
const followStream = (
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
 * One event stream for all tabs of an origin: a browser opens six connections to one address at most.
 *
 * The tab that holds a lock has the stream, and passes on what it hears. When it is closed or frozen, the lock is the next
 * tab's. Pages that are not secure have no locks: each has a stream of its own. What is returned is as of `followStream`.
 */
export const shareStream = (
  key: string,
  options: StreamOptions,
  report: (state: StreamState) => void,
  signal: AbortSignal
): (() => void) => {
  const { locks } = navigator
  if (!locks) {
    return followStream(options, report, signal)
  }
  const channel = new BroadcastChannel(key)
  let hasStream = false
  let retry = () => {}
  let last: StreamState = "lost"

  const hear = (state: StreamState) => {
    last = state === "lost" ? state : "open"
    report(state)
  }

  const pass = (state: StreamState) => {
    hear(state)
    channel.postMessage(state)
  }

  channel.addEventListener(
    "message",
    ({ data }) => {
      if (data !== "hello") {
        hear(data)
      } else if (hasStream) {
        channel.postMessage(last)
      }
    },
    { signal }
  )

  const join = () => {
    const turn = new AbortController()
    const end = () => turn.abort()
    signal.addEventListener("abort", end, { once: true, signal: turn.signal })
    document.addEventListener("freeze", end, { once: true, signal: turn.signal })
    channel.postMessage("hello")
    locks
      .request(
        key,
        { signal: turn.signal },
        () =>
          new Promise<void>((release) => {
            hasStream = true
            retry = followStream(options, pass, turn.signal)
            turn.signal.addEventListener(
              "abort",
              () => {
                hasStream = false
                release()
              },
              { once: true }
            )
          })
      )
      .catch(() => {
        if (!turn.signal.aborted) {
          retry = followStream(options, report, turn.signal)
        }
      })
  }

  join()
  document.addEventListener("resume", join, { signal })
  signal.addEventListener("abort", () => channel.close(), { once: true })
  return () => retry()
}
