/**
 * Why a server does not answer a request as it asks. What becomes of each over HTTP is in `responses.ts`.
 */
import * as Schema from "effect/Schema"
import { ErrorChain } from "../../internal/SerializedError.ts"
import type { DispatchError } from "../../services/CommandBus.ts"

/** The message says what is wrong with it. */
export class BadRequest extends Schema.TaggedError<BadRequest>()("vitrine/BadRequest", {
  message: Schema.String
}) {}

export class BodyUnreadable extends Schema.TaggedError<BodyUnreadable>()("vitrine/BodyUnreadable", {}) {
  override get message() {
    return "The body could not be read to its end."
  }
}

/** The message says which is meant, and where it goes. */
export class TokenRequired extends Schema.TaggedError<TokenRequired>()("vitrine/TokenRequired", {
  message: Schema.String
}) {}

export class HostNotAllowed extends Schema.TaggedError<HostNotAllowed>()("vitrine/HostNotAllowed", {
  host: Schema.String,
  /** Whose option it is, as in "the HTTP transport". */
  server: Schema.String
}) {
  override get message() {
    return `Host not allowed: ${JSON.stringify(this.host)} is not among the "allowedHosts" of ${this.server}.`
  }
}

export class OriginNotAllowed extends Schema.TaggedError<OriginNotAllowed>()("vitrine/OriginNotAllowed", {
  /** Which ones are. */
  reason: Schema.String
}) {
  override get message() {
    return `Origin not allowed: ${this.reason}`
  }
}

/** A command that may not be given, or not here: the message says which may be, and where. */
export class CommandNotAllowed extends Schema.TaggedError<CommandNotAllowed>()("vitrine/CommandNotAllowed", {
  message: Schema.String
}) {}

/** The message says what is not there. */
export class NotFound extends Schema.TaggedError<NotFound>()("vitrine/NotFound", {
  message: Schema.String
}) {}

export class MethodNotAllowed extends Schema.TaggedError<MethodNotAllowed>()("vitrine/MethodNotAllowed", {
  method: Schema.String
}) {
  override get message() {
    return `Method not allowed: ${this.method}. There are GET, HEAD and OPTIONS.`
  }
}

/** A condition of the request (`If-Match`, `If-Unmodified-Since`) does not hold. */
export class PreconditionFailed extends Schema.TaggedError<PreconditionFailed>()(
  "vitrine/PreconditionFailed",
  {}
) {
  override get message() {
    return "Precondition failed: the file is not the one that the request asks for."
  }
}

/** The largest body that is accepted, in bytes. */
export const maxBodyBytes = 65_536

export class BodyTooLarge extends Schema.TaggedError<BodyTooLarge>()("vitrine/BodyTooLarge", {
  /** In bytes. Default `maxBodyBytes`. */
  limit: Schema.propertySignature(Schema.Number).pipe(Schema.withConstructorDefault(() => maxBodyBytes))
}) {
  override get message() {
    return `The body exceeds ${this.limit} bytes.`
  }
}

export class JsonRequired extends Schema.TaggedError<JsonRequired>()("vitrine/JsonRequired", {}) {
  override get message() {
    return 'JSON required: send "Content-Type: application/json".'
  }
}

export class RangeNotSatisfiable extends Schema.TaggedError<RangeNotSatisfiable>()(
  "vitrine/RangeNotSatisfiable",
  {
    /** Size of the file in bytes. */
    size: Schema.Number
  }
) {
  override get message() {
    return 'Range not satisfiable: the file has no such bytes. "Content-Range" says how many it has.'
  }
}

/** The disk fails, or the controller's user may not read there: the log says which. */
export class Unreadable extends Schema.TaggedError<Unreadable>()("vitrine/FileUnreadable", {
  cause: ErrorChain
}) {
  override get message() {
    return "The file could not be read. The log of the controller says why."
  }
}

export class TooManyClients extends Schema.TaggedError<TooManyClients>()("vitrine/TooManyClients", {
  maxClients: Schema.Number
}) {
  override get message() {
    return `Too many SSE clients: all ${this.maxClients} event streams are in use. Raise "maxClients", or close a client.`
  }
}

export class TooManyConnections extends Schema.TaggedError<TooManyConnections>()(
  "vitrine/TooManyConnections",
  {
    limit: Schema.Number,
    /** What to do about it. */
    advice: Schema.String
  }
) {
  override get message() {
    return `Too many connections: all ${this.limit} are in use. ${this.advice}`
  }
}

/** Nothing has room for what is sent: the message says what. */
export class NoRoom extends Schema.TaggedError<NoRoom>()("vitrine/NoRoom", { message: Schema.String }) {}

/** The message says how many there may be. */
export class TooManyRequests extends Schema.TaggedError<TooManyRequests>()("vitrine/TooManyRequests", {
  message: Schema.String,
  /** When the next may come, in seconds. */
  retryAfter: Schema.Number
}) {}

export type RequestError =
  | BadRequest
  | BodyTooLarge
  | BodyUnreadable
  | CommandNotAllowed
  | DispatchError
  | HostNotAllowed
  | JsonRequired
  | MethodNotAllowed
  | NoRoom
  | NotFound
  | OriginNotAllowed
  | PreconditionFailed
  | RangeNotSatisfiable
  | TokenRequired
  | TooManyClients
  | TooManyConnections
  | TooManyRequests
  | Unreadable
