/**
 * Why a request gets no file. What becomes of it over HTTP is decided in `node/writeResponse.ts`.
 */
import * as Schema from "effect/Schema"
import { ErrorChain } from "../../internal/SerializedError.ts"
import type { HostNotAllowed } from "../http/hosts.ts"

export class BadRequest extends Schema.TaggedError<BadRequest>()("vitrine/BadContentRequest", {
  detail: Schema.String
}) {
  override get message() {
    return this.detail
  }
}

export class NotFound extends Schema.TaggedError<NotFound>()("vitrine/ContentNotFound", {
  detail: Schema.String
}) {
  override get message() {
    return this.detail
  }
}

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

export class RangeNotSatisfiable extends Schema.TaggedError<RangeNotSatisfiable>()(
  "vitrine/RangeNotSatisfiable",
  {}
) {
  override get message() {
    return 'Range not satisfiable: the file has no such bytes. "Content-Range" says how many it has.'
  }
}

export class TooManyConnections extends Schema.TaggedError<TooManyConnections>()(
  "vitrine/TooManyConnections",
  { limit: Schema.Number }
) {
  override get message() {
    return `Too many connections: all ${this.limit} are in use. Try again later, or raise "maxConnections" of the content server.`
  }
}

/** The disk fails, or the controller's user may not read there: the log says which. */
export class Unreadable extends Schema.TaggedError<Unreadable>()("vitrine/ContentUnreadable", {
  cause: ErrorChain
}) {
  override get message() {
    return "The file could not be read. The log of the controller says why."
  }
}

export type RequestError =
  | BadRequest
  | HostNotAllowed
  | MethodNotAllowed
  | NotFound
  | PreconditionFailed
  | RangeNotSatisfiable
  | TooManyConnections
  | Unreadable
