/**
 * What goes wrong between this process and NATS. Each service makes its own error of it.
 */
import { JetStreamApiCodes, JetStreamApiError } from "@nats-io/jetstream"
import { errors } from "@nats-io/transport-node"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { excerpt } from "../../internal/printable.ts"
import { withTimeout } from "../../internal/Schedules.ts"
import { messageOf } from "../../internal/SerializedError.ts"
import { optional } from "../../internal/schemas.ts"

/** Internal to this room: each service has its own error. */
export class NatsFailure extends Schema.TaggedError<NatsFailure>()("vitrine/NatsFailure", {
  detail: Schema.String,
  /** Whether the server may have done the request all the same. */
  mayHaveHappened: Schema.Boolean,
  cause: optional(Schema.Unknown)
}) {
  override get message() {
    return this.detail
  }
}

/** Sends a request to the server. */
export const ask = <A>(request: () => Promise<A>): Effect.Effect<A, NatsFailure> =>
  Effect.tryPromise({ try: request, catch: natsFailure })

/** Limits several requests, which together may take twice as long as one. */
export const inTime = withTimeout(
  "10 seconds",
  () => new NatsFailure({ detail: notInTime, mayHaveHappened: true })
)

const notInTime = "the server did not respond in time"

/** Runs an action without waiting for its result. Fails if the connection is closed. */
export const attempt = <A>(act: () => A): Effect.Effect<A, NatsFailure> =>
  Effect.try({ try: act, catch: natsFailure })

const natsFailure = (error: unknown): NatsFailure =>
  error instanceof NatsFailure
    ? error
    : new NatsFailure({ detail: detailOf(error), mayHaveHappened: !wasRejected(error), cause: error })

/** The subject has no subscribers; for example, no stream has it. */
export const isWithoutResponders = ({ cause }: NatsFailure): boolean => hasNoResponders(cause)

/** Another process has written to the subject in between. */
export const isOutOfDate = ({ cause }: NatsFailure): boolean =>
  cause instanceof JetStreamApiError &&
  (cause.code === JetStreamApiCodes.StreamWrongLastSequence ||
    cause.code === JetStreamApiCodes.StreamWrongLastSequenceUnknown)

export const isNoSuchStream = ({ cause }: NatsFailure): boolean =>
  cause instanceof JetStreamApiError && cause.code === JetStreamApiCodes.StreamNotFound

/** The library wraps the reason of a failed delivery. */
const hasNoResponders = (error: unknown): boolean =>
  error instanceof Error &&
  (error instanceof errors.RequestError ? error.isNoResponders() : hasNoResponders(error.cause))

const hasTimedOut = (error: unknown): boolean =>
  error instanceof Error && (error instanceof errors.TimeoutError || hasTimedOut(error.cause))

const wasRejected = (error: unknown): boolean =>
  error instanceof JetStreamApiError ||
  error instanceof errors.PermissionViolationError ||
  hasNoResponders(error)

const detailOf = (error: unknown): string =>
  hasTimedOut(error)
    ? notInTime
    : isCertificateRefused(error)
      ? "the server does not accept the certificate of this client, or requires one"
      : excerpt(messageOf(error))

/** An alert of the other end of TLS, in the words of OpenSSL. */
const isCertificateRefused = (error: unknown): boolean =>
  error instanceof Error && /certificate|unknown ca/.test(/alert (.*)/.exec(error.message)?.[1] ?? "")
