/**
 * The event stream of the controller. It says that something is new; the manifest says what.
 */
import { growing, pause } from "./pauses.ts"

/**
 * What the stream tells: it is open, there is a new version or a new build of the page, a screen is asked for something, or it is
 * lost.
 */
export type StreamState = "open" | "new" | `asked ${string}` | "lost"

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

/** How many streams pages without locks open, of the six connections of a browser: acks and files must pass. */
const mostStreams = 3

/** How long the other pages have to say that they have a stream. */
const answerMs = 300

/** For pages that are not secure, and have no locks: those that asked first have streams, and the others poll. */
const limitStreams = (
  channel: BroadcastChannel,
  { address, name }: StreamOptions,
  report: (state: StreamState) => void,
  signal: AbortSignal
): (() => void) => {
  /** When this page asked, by which it is known; never, where it neither has a stream nor asks for one. */
  let own = Number.POSITIVE_INFINITY
  let earlier = 0

  // A page sends the time when it asks; those that asked earlier answer with the same, below zero.
  channel.onmessage = ({ data }) => {
    if (data > own) {
      channel.postMessage(-data)
    } else if (data === -own) {
      earlier++
    }
  }

  return followStream(
    {
      name,
      address: async () => {
        own = Date.now() + Math.random()
        earlier = 0
        channel.postMessage(own)
        await pause(answerMs)
        if (earlier < mostStreams) {
          return address()
        }
        throw new Error("Others have streams")
      }
    },
    (state) => {
      own = state === "lost" ? Number.POSITIVE_INFINITY : own
      report(state)
    },
    signal
  )
}

/** How often a tab asks the tab that has the stream for a sign of life, in milliseconds. Without one until the next time, it is lost. */
const askMs = 5000

/**
 * One event stream for all tabs of an origin: a browser opens six connections to one address at most.
 *
 * The tab that holds a lock has the stream, and passes on what it hears. When it is closed or frozen, the lock is the next
 * tab's. A tab that is blocked, by an `alert()` for example, keeps the lock: the others poll until it goes on. Pages that are not
 * secure have no locks: see `limitStreams`. What is returned is as of `followStream`.
 */
export const shareStream = (
  key: string,
  options: StreamOptions,
  report: (state: StreamState) => void,
  signal: AbortSignal
): (() => void) => {
  const { locks } = navigator
  // All pages without locks share the connections, whatever their controllers.
  const channel = new BroadcastChannel(locks ? key : "vitrine streams")
  signal.addEventListener("abort", () => channel.close(), { once: true })
  if (!locks) {
    return limitStreams(channel, options, report, signal)
  }
  let hasStream = false
  let retry = () => {}
  let last: StreamState = "lost"
  /** Whether nothing was heard since this tab has asked. */
  let isSilent = false

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
      if (data === "hello") {
        if (hasStream && last === "open") {
          channel.postMessage("here")
        }
        return
      }
      isSilent = false
      if (data !== "here") {
        hear(data)
      } else if (last === "lost") {
        hear("open")
      }
    },
    { signal }
  )

  const asks = setInterval(() => {
    if (!hasStream) {
      if (isSilent && last === "open") {
        hear("lost")
      }
      isSilent = true
      channel.postMessage("hello")
    }
  }, askMs)
  signal.addEventListener("abort", () => clearInterval(asks), { once: true })

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
  return () => retry()
}
