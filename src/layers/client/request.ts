/** Requests for JSON with a time limit; errors name the address. */

const limitMs = 30_000

/** The server was reached, and has refused, or has answered with something else. */
export class Refused extends Error {}

/**
 * The JSON of a response, as the wire describes it; nothing for a 404. It takes half a minute at most. `answered` is called
 * with the head of the response.
 */
export const request = async <Body>(
  url: string,
  { signal, ...init }: RequestInit = {},
  answered = (_: Response) => {}
): Promise<Body | undefined> => {
  const limit = new AbortController()
  const abort = () => limit.abort()
  const timer = setTimeout(abort, limitMs)
  signal?.addEventListener("abort", abort)
  try {
    const response = await fetch(url, { ...init, signal: limit.signal })
    answered(response)
    if (response.status === 404) {
      return undefined
    }
    if (!response.ok) {
      const body = await response.json().catch(() => undefined)
      throw new Refused(`${url}: HTTP ${response.status} ${body?.error?.message ?? ""}`.trim())
    }
    return await response.json()
  } catch (error) {
    if (error instanceof Refused) {
      throw error
    }
    throw new (error instanceof SyntaxError ? Refused : Error)(`${url}: ${error}`)
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener("abort", abort)
  }
}

/** An address to which paths are appended. */
export const withoutSlash = (url: string) => url.replace(/\/$/, "")
