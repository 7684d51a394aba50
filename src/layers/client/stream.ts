/** The event stream of the controller. It says that there is news; what the news is stands in the manifest. */
import { growing } from "./pauses.ts"

/** What becomes of a stream: it is open, a version was promoted, it is lost. */
export type News = "open" | "promoted" | "lost"

export interface StreamOptions {
  /** What the names of events begin with. */
  readonly name: string
  /** The address of the stream, which may be another one after a restart of the controller. */
  readonly address: () => Promise<string>
}

/**
 * Follows the stream until the signal is aborted. An `EventSource` gives up for good after a 503 (all streams are in use), so
 * that each failure is followed by a new one, after a pause that grows. What is returned ends such a pause, and lets the next begin
 * anew: the controller is there again.
 */
export const followStream = (
  { address, name }: StreamOptions,
  report: (news: News) => void,
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
    signal.addEventListener("abort", () => source.close())
    source.onopen = () => {
      failures = 0
      report("open")
    }
    source.onerror = again
    source.addEventListener(`${name}:version:promoted`, () => report("promoted"))
  }

  open()
  return () => {
    failures = 0
    if (timer) {
      open()
    }
  }
}
