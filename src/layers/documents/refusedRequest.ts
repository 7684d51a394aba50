/**
 * What sources read of a request that a server refused.
 */
import * as Option from "effect/Option"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { hideSecret } from "../httpClient/hideSecret.ts"
import type { RequestFailed } from "./Requests.ts"

/** Reads the JSON that a server said to it, without the token; `undefined` where it said none. */
export const bodyWithout = (token: Redacted.Redacted | undefined) => {
  const withoutToken = token === undefined ? (text: string) => text : hideSecret(token)
  return ({ body = "" }: RequestFailed): unknown => Option.getOrUndefined(parseJson(withoutToken(body)))
}

const parseJson = Schema.decodeOption(Schema.parseJson())

/** What to do where a URL redirects to another origin, which is not sent an option of the source. */
export const redirectAdvice = (asked: string, option: string, failed: RequestFailed): string | undefined => {
  if (failed.isTransient || !URL.canParse(failed.url)) return undefined
  const from = new URL(asked).origin
  const to = new URL(failed.url).origin
  return from === to
    ? undefined
    : `${from} redirects to ${to}, which is not sent "${option}": write that into "url"`
}
