/**
 * What sources read of a request that a server refused.
 */
import type { RequestFailed } from "../httpClient/Requests.ts"

/** What to do where a URL redirects to another origin, which is not sent an option of the source. */
export const redirectAdvice = (asked: string, option: string, failed: RequestFailed): string | undefined => {
  if (failed.isTransient || !URL.canParse(failed.url)) return undefined
  const from = new URL(asked).origin
  const to = new URL(failed.url).origin
  return from === to
    ? undefined
    : `${from} redirects to ${to}, which is not sent "${option}": write that into "url"`
}
