/**
 * One event stream for all tabs of an origin: a browser opens six connections to one address at most.
 *
 * The tab that holds a lock has the stream, and passes on what it hears. When it is closed or frozen, the lock is the next
 * tab's. Pages that are not secure have no locks: each has a stream of its own. What is returned is as of `followStream`.
 */
import { followStream, type News, type StreamOptions } from "./stream.ts"

export const shareStream = (
  key: string,
  options: StreamOptions,
  report: (news: News) => void,
  signal: AbortSignal
): (() => void) => {
  const { locks } = navigator
  if (!locks) {
    return followStream(options, report, signal)
  }
  const channel = new BroadcastChannel(key)
  let hasStream = false
  let retry = () => {}
  let last: News = "lost"

  const hear = (news: News) => {
    last = news === "lost" ? news : "open"
    report(news)
  }

  const pass = (news: News) => {
    hear(news)
    channel.postMessage(news)
  }

  channel.onmessage = ({ data }) => {
    if (data !== "hello") {
      hear(data)
    } else if (hasStream) {
      channel.postMessage(last)
    }
  }

  const join = () => {
    const turn = new AbortController()
    const end = () => turn.abort()
    signal.addEventListener("abort", end)
    document.addEventListener("freeze", end, { once: true })
    channel.postMessage("hello")
    locks
      .request(
        key,
        { signal: turn.signal },
        () =>
          new Promise<void>((release) => {
            hasStream = true
            retry = followStream(options, pass, turn.signal)
            turn.signal.addEventListener("abort", () => {
              hasStream = false
              release()
            })
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
  signal.addEventListener("abort", () => channel.close())
  return () => retry()
}
