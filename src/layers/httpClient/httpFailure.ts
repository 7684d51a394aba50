/**
 * Failures of requests and downloads: their messages, and when to retry. The caller decides what a response means.
 */
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import { excerpt, printableLine } from "../../internal/printable.ts"
import { sizeText } from "../../internal/readable.ts"
import { request, retryBy } from "../../internal/Schedules.ts"
import { OptionalErrorChain } from "../../internal/SerializedError.ts"
import { errorCode } from "../../internal/serializeError.ts"
import { WaitObserver } from "../../services/WaitObserver.ts"
import { type Headers, maxHeaderBytes } from "./headers.ts"
import { LocalAddressRefused } from "./localAddress.ts"

/**
 * Set in a failure if an immediate retry may succeed: the server, or the way to it, failed. The value is the pause
 * that the server asked for.
 */
export const RetryAfter = Schema.optional(Schema.DurationFromSelf)

interface Retryable extends Error {
  readonly retryAfter: Duration.Duration
}

const isRetryable = (failure: unknown): failure is Retryable =>
  failure instanceof Error && "retryAfter" in failure && Duration.isDuration(failure.retryAfter)

/** Not sooner than the server asked for. The retry is logged, and reported to the `WaitObserver`. */
const retries = Schedule.identity<unknown>().pipe(
  Schedule.zipLeft(request),
  Schedule.whileInput(isRetryable),
  Schedule.modifyDelayEffect((failure, pause) => {
    if (!isRetryable(failure)) return Effect.succeed(pause)
    const longer = Duration.max(pause, failure.retryAfter)
    return Effect.logDebug(`${failure.message}. Trying again in ${Duration.format(longer)}`).pipe(
      Effect.zipRight(
        Effect.flatMap(WaitObserver, ({ waiting }) =>
          waiting({ reason: "retry", millis: Duration.toMillis(longer) })
        )
      ),
      Effect.as(longer)
    )
  })
)

/** Retries the attempt if its failure has `retryAfter`, three times at most and with growing pauses. */
export const withRetries = <A, E, R>(
  attempt: Effect.Effect<A, E, R>,
  annotations?: Readonly<Record<string, string>>
): Effect.Effect<A, E, R> => retryBy(attempt, retries, annotations)

/** Whether a status is transient: a read is then retried. 202 says that the response is being prepared. */
export const passes = (status: number): boolean =>
  status === 202 || status === 408 || status === 425 || status === 429 || status >= 500

/** The longest pause, even if the server asks for more. */
const longestPause = Duration.minutes(5)

/** The pause in `Retry-After`, in seconds or as a date, up to 5 minutes; zero without the header. */
export const retryAfter = ({ headers }: { readonly headers: Headers }) =>
  Effect.map(Clock.currentTimeMillis, (now) => {
    const text = headers["retry-after"] ?? ""
    const millis = /^\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now
    return Number.isNaN(millis) ? Duration.zero : Duration.min(Duration.millis(millis), longestPause)
  })

/** Only the origin of an address: the rest may contain secrets. */
export const originOf = (address: string | undefined): string =>
  address !== undefined && URL.canParse(address) ? excerpt(new URL(address).origin) : "another address"

/** The message nearest to the cause: the outer errors only say "fetch failed" and the like. */
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

/** The message of Undici. */
const proxyRefusal = /^Proxy response \((\d+)\)/

const proxyAdvice: ReadonlyMap<string, string> = new Map([
  ["407", ". Put the user and the password into its address: http://user:password@host:port"]
])

/** Without the line in OpenSSL's source. */
const tlsMessage = (error: Error, code: string): string => {
  const reason = "reason" in error ? String(error.reason) : code
  return noTls.has(code)
    ? `the server does not speak TLS at this port (${reason}). Should the address begin with http:// or have another port?`
    : `the TLS handshake failed (${reason})`
}

/** OpenSSL's codes for a server that does not speak TLS. */
const noTls = new Set([
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "ERR_SSL_PACKET_LENGTH_TOO_LONG",
  "ERR_SSL_HTTP_REQUEST"
])

/** Whether a connection failed because of the server's certificate: a retry would fail as well. */
export const isCertificateProblem = (error: unknown): boolean => certificateCode(error) !== undefined

/** Whether the problem passes by itself: without a network, the clock of a machine is often behind. */
export const isNotYetValid = (error: unknown): boolean => certificateCode(error) === "CERT_NOT_YET_VALID"

const certificateCode = (error: unknown, depth = 0): string | undefined =>
  Predicate.hasProperty(error, "code") && isCertificateCode(String(error.code))
    ? String(error.code)
    : Predicate.hasProperty(error, "cause") && depth < 8
      ? certificateCode(error.cause, depth + 1)
      : undefined

/** The names of Node: https://nodejs.org/api/tls.html#x509-certificate-error-codes */
const isCertificateCode = (code: string): boolean =>
  /^CERT_|^UNABLE_TO_(?:GET_ISSUER_CERT|VERIFY_LEAF_SIGNATURE)|SELF_SIGNED_CERT|^ERR_TLS_CERT_ALTNAME_INVALID$|^(?:HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED)$/.test(
    code
  )

/** What to check, as in "Check …". */
export const certificateAdvice =
  "the clock of this machine, and whether its network intercepts TLS (the environment variable NODE_EXTRA_CA_CERTS names a file of further authorities)"

/** A file that could not be downloaded. */
export class DownloadFailed extends Schema.TaggedError<DownloadFailed>()("vitrine/DownloadFailed", {
  /** What happened. Links may be signed: the text contains no more of a link than its origin. */
  detail: Schema.String,
  /** Whether a later try may succeed without anybody doing something. */
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

type More = Partial<Pick<DownloadFailed, "cause" | "isExpired" | "isTimeout" | "isTransient" | "retryAfter">>

export const failed = (detail: string, more: More = {}): DownloadFailed =>
  new DownloadFailed({
    detail: printableLine(detail, maxDetail),
    isTransient: false,
    isExpired: false,
    ...more
  })

/** In characters. Most of the text may come from a server. */
const maxDetail = 600

/** A failure that is retried at once, and may pass later if this does not help. */
export const retryable = (detail: string, more: More = {}) =>
  failed(detail, { isTransient: true, ...more, retryAfter: more.retryAfter ?? Duration.zero })

export const connectionFailed = (url: URL, cause: unknown): DownloadFailed => {
  const { origin } = url
  if (cause instanceof LocalAddressRefused) {
    const advice = cause.isMetadata ? "" : ", and the configuration does not name that host"
    return failed(`its link or a redirect leads to ${origin}, but ${cause.message}${advice}`, { cause })
  }
  if (["UND_ERR_HEADERS_OVERFLOW", "HPE_HEADER_OVERFLOW"].includes(errorCode(cause) ?? "")) {
    return failed(`the headers of ${origin} have more than ${sizeText(maxHeaderBytes)}`)
  }
  return isCertificateProblem(cause)
    ? failed(
        `the certificate of ${origin} is not accepted: ${deepestMessage(cause)}. Check ${certificateAdvice}`,
        { isTransient: isNotYetValid(cause), ...causeIn(cause) }
      )
    : broken(url, cause)
}

export const broken = ({ origin }: URL, cause: unknown) =>
  retryable(`the connection to ${origin} failed: ${deepestMessage(cause)}`, causeIn(cause))

const causeIn = (cause: unknown): More => (Predicate.isError(cause) ? { cause } : {})

/** `bytes` may be the number of received bytes so far. */
export const wrongSize = ({ origin }: URL, bytes: number | string, expected: number): string =>
  `${origin} gave ${bytes} of ${expected} bytes`

/** No data for so many milliseconds. */
export const silent = ({ origin }: URL, millis: number, option?: string) =>
  retryable(`nothing came from ${origin} for ${millis} ms${option === undefined ? "" : ` ("${option}")`}`, {
    isTimeout: true
  })

/** No complete response within so many milliseconds. */
export const notWhole = ({ origin }: URL, millis: number) =>
  retryable(`no complete answer from ${origin} within ${millis} ms ("maxTimeout")`, { isTimeout: true })
