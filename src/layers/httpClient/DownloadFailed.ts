/**
 * What goes wrong with a download, in words, and whether to try again.
 */
import * as Duration from "effect/Duration"
import * as Schema from "effect/Schema"
import { printableLine } from "../../internal/printable.ts"
import { sizeText } from "../../internal/readable.ts"
import { OptionalErrorChain } from "../../internal/SerializedError.ts"
import { errorCode } from "../../internal/systemError.ts"
import {
  certificateAdvice,
  deepestMessage,
  isCertificateProblem,
  isNotYetValid,
  RetryAfter
} from "./HttpFailure.ts"
import { LocalAddressRefused } from "./localAddress.ts"
import { maxHeaderBytes } from "./proxy.ts"

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
