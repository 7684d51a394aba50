/**
 * Finds out whether a receiver refuses an alert: by its status, or although its status says that it accepts the alert, as several
 * chats do.
 */
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { errorCode } from "../../internal/serializeError.ts"
import { isCertificateProblem } from "../httpClient/httpFailure.ts"
import type { RequestFailed } from "../httpClient/Requests.ts"

/** Statuses of a receiver that is away or has too much to do. All others refuse the post. */
const unavailable: ReadonlySet<number> = new Set([408, 425, 429, 502, 503, 504])

/** There was no connection, or none that was secure. */
const unconnected = /^(EAI_AGAIN|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|ERR_SSL_)/

/** Whether the receiver refuses the post, whether the post surely did not arrive, and why. The timeout is in milliseconds. */
export const outcomeOf = (
  { cause, detail, reason, redirectsTo, status }: RequestFailed,
  timeout: number
) => ({
  isRefused: status !== undefined && !unavailable.has(status),
  isLost:
    status === undefined
      ? unconnected.test(errorCode(cause) ?? "") || isCertificateProblem(cause)
      : status !== 504,
  reason:
    redirectsTo !== undefined
      ? `it redirects to ${redirectsTo}, which alerts do not follow: set the new address as "url"`
      : status !== undefined && status > 299
        ? `it responds ${status}`
        : reason === "Timeout"
          ? `no response within ${timeout / 1000} seconds`
          : detail
})

const parse = Schema.decodeOption(Schema.parseJson())

/** Values of `status` and `result`. */
const failures: ReadonlySet<unknown> = new Set(["error", "fail", "failed", "failure"])

/** A sign-in page, or a redirect to a sign-in page: a guest network sends it in the place of the receiver. */
const signIn = /^\s*<.*(<form\b|http-equiv=["']?refresh)/is

/** Up to here, a `code` may be a status of HTTP that is no failure. */
const lastSuccess = 299

/**
 * Whether the body of a successful response says that the alert was not delivered: `ok` or `success` that is false, an
 * `errcode` that is not 0, a `code` of a failure, an `error`, `errors`, a failed `status`, the text of Teams, or a sign-in
 * page. Any other body, or none, counts as accepted.
 */
export const isRefusal = (body: string): boolean =>
  Option.match(parse(body), {
    onNone: () => body.includes("delivery failed with error") || signIn.test(body),
    onSome: (said) => {
      if (!Predicate.isRecord(said)) return false
      const { code, errcode, error, errors, ok, result, status, success } = said
      return (
        ok === false ||
        success === false ||
        (Predicate.isNumber(errcode) && errcode !== 0) ||
        (Predicate.isNumber(code) && code > lastSuccess) ||
        (Predicate.isString(error) ? error !== "" : Predicate.isRecord(error)) ||
        (Array.isArray(errors) && errors.length > 0) ||
        failures.has(status) ||
        failures.has(result)
      )
    }
  })
