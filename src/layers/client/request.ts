/** Requests with a time limit, whose errors name the address; and pauses with a random part, so that the screens of a museum do not act at the same time. */

/** The server responded with an error, or with unexpected content. */
export class Refused extends Error {}

/** There was no response within the time limit. */
export class TimedOut extends Error {}

/** Runs `use` with a signal. The signal is aborted after 30 seconds or `ms`, at the end of `use`, and with `signal`. */
export const limited = async <A>(
  use: (limit: AbortSignal) => Promise<A>,
  signal?: AbortSignal | null,
  ms = 30_000
): Promise<A> => {
  const limit = new AbortController()
  const abort = () => limit.abort()
  const timer = setTimeout(abort, ms)
  signal?.addEventListener("abort", abort)
  try {
    return await use(limit.signal)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener("abort", abort)
    abort()
  }
}

/**
 * The JSON of a response (docs/wire.md); nothing for a 404. Fails after 30 seconds. `answered` is called with the head of the
 * response.
 */
export const request = async <Body>(
  url: string,
  { signal, ...init }: RequestInit = {},
  answered = (_: Response) => {}
): Promise<Body | undefined> => {
  try {
    return await limited(async (limit) => {
      const response = await fetch(url, { ...init, signal: limit })
      answered(response)
      if (response.status === 404) {
        return undefined
      }
      if (!response.ok) {
        const body = await response.json().catch(() => undefined)
        throw new Refused(`${url}: HTTP ${response.status} ${body?.error?.message ?? ""}`.trim())
      }
      return await response.json()
    }, signal)
  } catch (error) {
    if (error instanceof Refused) {
      throw error
    }
    throw new (errorOf(error))(`${url}: ${error}`)
  }
}

const errorOf = (error: unknown) =>
  error instanceof SyntaxError
    ? Refused
    : error instanceof DOMException && error.name === "AbortError"
      ? TimedOut
      : Error

export const messageOf = (error: unknown) => (error instanceof Error ? error.message : `${error}`)

/** An address without its last slash, so that paths can be appended. */
export const withoutSlash = (url: string) => url.replace(/\/$/, "")

/** The longest duration of a timer, some 24 days: a longer timer would end at once. */
const longestMs = 2 ** 31 - 1

/** Up to a fifth shorter or longer, in milliseconds, and at most the longest duration of a timer. */
export const about = (ms: number): number => Math.min(longestMs, ms * (0.8 + 0.4 * Math.random()))

/** The pause before a retry, in milliseconds: about 2, 4, 8, 16 and then 30 seconds. */
export const growing = (failures: number): number => about(Math.min(30_000, 2000 * 2 ** failures))

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
