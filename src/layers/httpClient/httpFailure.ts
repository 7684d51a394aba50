/**
 * What goes wrong on the way to a server: the words for it, and when to try again.
 *
 * What an answer means is decided by the caller.
 *
 * What goes wrong with a download, in words, and whether to try again.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { excerpt, printableLine } from "../../internal/printable.ts"
import { sizeText } from "../../internal/readable.ts"
import { request } from "../../internal/Schedules.ts"
import { OptionalErrorChain } from "../../internal/SerializedError.ts"
import { errorCode } from "../../internal/serializeError.ts"
import { reportWait } from "../../services/WaitObserver.ts"
import type { Headers } from "./headers.ts"
import { maxHeaderBytes } from "./headers.ts"
import { LocalAddressRefused } from "./localAddress.ts"

/**
 * Set in a failure where another try at once may succeed: the server, or the way to it, failed. It says how long the server asked
 * to be left alone.
 */
export const RetryAfter = Schema.optional(Schema.DurationFromSelf)

interface Retryable extends Error {
  readonly retryAfter: Duration.Duration
}

const isRetryable = (failure: unknown): failure is Retryable =>
  failure instanceof Error && "retryAfter" in failure && Duration.isDuration(failure.retryAfter)

/** No sooner than the server asked for. It is logged, and reported to the `WaitObserver`. */
const retries = Schedule.identity<unknown>().pipe(
  Schedule.zipLeft(request),
  Schedule.whileInput(isRetryable),
  Schedule.modifyDelayEffect((failure, pause) => {
    if (!isRetryable(failure)) return Effect.succeed(pause)
    const longer = Duration.max(pause, failure.retryAfter)
    return Effect.logDebug(`${failure.message}. Trying again in ${Duration.format(longer)}`).pipe(
      Effect.zipRight(reportWait("retry", Duration.toMillis(longer))),
      Effect.as(longer)
    )
  })
)

/** Makes the attempt again where its failure has `retryAfter`, three times at most and with growing pauses. */
export const withRetries = <A, E, R>(attempt: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.retry(attempt, retries)

/**
 * As `Effect.timeoutFail`, which is not interrupted where it runs beside others in `Effect.forEach` and one of
 * those fails.
 */
export const withTimeout =
  <E>(millis: number, onTimeout: () => E) =>
  <A, E1, R>(effect: Effect.Effect<A, E1, R>): Effect.Effect<A, E | E1, R> =>
    millis === Number.POSITIVE_INFINITY
      ? effect
      : Effect.raceFirst(effect, Effect.zipRight(Effect.sleep(millis), Effect.failSync(onTimeout)))

/** Whether a status is one that passes: what is only read is asked for again. 202 says that it is being made. */
export const passes = (status: number): boolean =>
  status === 202 || status === 408 || status === 425 || status === 429 || status >= 500

/** However long the server asks to be left alone. */
const longestPause = Duration.minutes(5)

/** What `Retry-After` says, in seconds or as a date, within reason; nothing where it says nothing. */
export const retryAfter = ({ headers }: { readonly headers: Headers }) =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const text = headers["retry-after"] ?? ""
    const millis = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
    return Number.isNaN(millis) ? Duration.zero : Duration.min(Duration.millis(millis), longestPause)
  })

/** No more of an address than whose it is: the rest may hold secrets. */
export const originOf = (address: string | undefined): string =>
  address !== undefined && URL.canParse(address) ? excerpt(new URL(address).origin) : "another address"

/** The words nearest to what happened: those of the outer errors are "fetch failed" and the like. */
export const deepestMessage = (error: unknown): string => {
  let deepest = error
  for (let depth = 0; depth < 8 && deepest instanceof Error && deepest.cause instanceof Error; depth++) {
    deepest = deepest.cause
  }
  if (!(deepest instanceof Error)) return String(deepest)
  const code = "code" in deepest ? String(deepest.code) : ""
  const [, refusal] = proxyRefusal.exec(deepest.message) ?? []
  return code.startsWith("ERR_SSL_")
    ? tlsMessage(deepest, code)
    : refusal !== undefined
      ? `the proxy refuses it with HTTP ${refusal}${proxyAdvice.get(refusal) ?? ""}`
      : deepest.message || code
}

/** As Undici words it. */
const proxyRefusal = /^Proxy response \((\d+)\)/

const proxyAdvice: ReadonlyMap<string, string> = new Map([
  ["407", ". Put the user and the password into its address: http://user:password@host:port"]
])

/** Without the line of OpenSSL's source that it failed in. */
const tlsMessage = (error: Error, code: string): string => {
  const reason = "reason" in error ? String(error.reason) : code
  return noTls.has(code)
    ? `the server does not speak TLS at this port (${reason}). Should the address begin with http:// or have another port?`
    : `the TLS handshake failed (${reason})`
}

/** OpenSSL's names for what comes from a server that speaks something else. */
const noTls = new Set([
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "ERR_SSL_PACKET_LENGTH_TOO_LONG",
  "ERR_SSL_HTTP_REQUEST"
])

/** Whether a connection failed because of the server's certificate: another try would fail as well. */
export const isCertificateProblem = (error: unknown): boolean => certificateCode(error) !== undefined

/** Whether that passes by itself: the clock of a machine without a network is often behind, until it has one. */
export const isNotYetValid = (error: unknown): boolean => certificateCode(error) === "CERT_NOT_YET_VALID"

const certificateCode = (error: unknown, depth = 0): string | undefined =>
  Predicate.hasProperty(error, "code") && codes.has(String(error.code))
    ? String(error.code)
    : Predicate.hasProperty(error, "cause") && depth < 8
      ? certificateCode(error.cause, depth + 1)
      : undefined

/** As Node names them: https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const codes = new Set([
  "CERT_CHAIN_TOO_LONG",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
  "CERT_REJECTED",
  "CERT_REVOKED",
  "CERT_SIGNATURE_FAILURE",
  "CERT_UNTRUSTED",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "HOSTNAME_MISMATCH",
  "INVALID_CA",
  "INVALID_PURPOSE",
  "PATH_LENGTH_EXCEEDED",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE"
])

/** What to check then, as in "Check …". */
export const certificateAdvice =
  "the clock of this machine, and whether its network intercepts TLS (the environment variable NODE_EXTRA_CA_CERTS names a file of further authorities)"

/** A file that could not be downloaded. */
export class DownloadFailed extends Schema.TaggedError<DownloadFailed>()("vitrine/DownloadFailed", {
  /** What happened. Links may be signed: no more of one than its origin is in it. */
  detail: Schema.String,
  /** Whether another try may succeed later without anybody doing something. */
  isTransient: Schema.Boolean,
  /** Whether a fresh link may help: the status is 403, 404 or 410. */
  isExpired: Schema.Boolean,
  /** Whether the server was too slow. */
  isTimeout: Schema.optionalWith(Schema.Boolean, { exact: true, default: () => false }),
  retryAfter: RetryAfter,
  cause: OptionalErrorChain
}) {
  override get message() {
    return `The download failed: ${this.detail}`
  }
}

export const failed = (
  detail: string,
  more: Partial<Pick<DownloadFailed, "cause" | "isExpired" | "isTimeout" | "isTransient" | "retryAfter">> = {}
): DownloadFailed =>
  new DownloadFailed({
    detail: printableLine(detail, maxDetail),
    isTransient: false,
    isExpired: false,
    ...more
  })

/** A server has its part in most of it. */
const maxDetail = 600

/** What is tried again at once, and may heal later if that does not help. */
export const retryable = (detail: string, retryAfter = Duration.zero, isTimeout = false) =>
  failed(detail, { isTransient: true, isTimeout, retryAfter })

export const connectionFailed = (url: URL, cause: unknown): DownloadFailed => {
  const { origin } = url
  if (cause instanceof LocalAddressRefused) {
    const advice = cause.isMetadata ? "" : ", and the configuration does not name that host"
    return failed(`its link or a redirect leads to ${origin}, but ${cause.message}${advice}`, { cause })
  }
  if (["UND_ERR_HEADERS_OVERFLOW", "HPE_HEADER_OVERFLOW"].includes(errorCode(cause) ?? "")) {
    return failed(`the headers that ${origin} gives have more than ${sizeText(maxHeaderBytes)}`)
  }
  return isCertificateProblem(cause)
    ? failed(
        `the certificate of ${origin} is not accepted: ${deepestMessage(cause)}. Check ${certificateAdvice}`,
        { isTransient: isNotYetValid(cause) }
      )
    : broken(url, cause)
}

export const broken = ({ origin }: URL, cause: unknown) =>
  retryable(`the connection to ${origin} failed: ${deepestMessage(cause)}`)

/** `bytes` may be those that have come so far. */
export const wrongSize = ({ origin }: URL, bytes: number | string, expected: number): string =>
  `${origin} gave ${bytes} of ${expected} bytes`

/** Nothing came for so many milliseconds. */
export const silent = ({ origin }: URL, millis: number, option?: string) =>
  retryable(
    `nothing came from ${origin} for ${millis} ms${option === undefined ? "" : ` ("${option}")`}`,
    Duration.zero,
    true
  )

/** Not everything came within so many milliseconds. */
export const notWhole = ({ origin }: URL, millis: number) =>
  retryable(`no complete answer from ${origin} within ${millis} ms ("maxTimeout")`, Duration.zero, true)
