/**
 * Why a request of the dashboard is refused. What becomes of it over HTTP is decided in `node/writeResponse.ts`.
 */
import * as Schema from "effect/Schema"

export class BadRequest extends Schema.TaggedError<BadRequest>()("vitrine/BadDashboardRequest", {
  detail: Schema.String
}) {
  override get message() {
    return this.detail
  }
}

export class NotFound extends Schema.TaggedError<NotFound>()("vitrine/DashboardNotFound", {
  method: Schema.String,
  path: Schema.String
}) {
  override get message() {
    return `Not found: ${this.method} ${this.path}`
  }
}

export class OriginNotAllowed extends Schema.TaggedError<OriginNotAllowed>()(
  "vitrine/DashboardOriginNotAllowed",
  {
    /** Empty where a browser sent the request of a page without naming its origin. */
    origin: Schema.String
  }
) {
  override get message() {
    return `Origin not allowed: only the page of the dashboard itself may read and act, ${JSON.stringify(this.origin)} may not.`
  }
}

export class TokenRequired extends Schema.TaggedError<TokenRequired>()("vitrine/DashboardTokenRequired", {
  /** Whether there is a token, but another one. */
  isWrong: Schema.Boolean
}) {
  override get message() {
    return this.isWrong
      ? 'Wrong token: it is not the "token" of the dashboard.'
      : 'Token required: send "Authorization: Bearer TOKEN" with the "token" of the dashboard.'
  }
}

export class JsonRequired extends Schema.TaggedError<JsonRequired>()("vitrine/DashboardJsonRequired", {}) {
  override get message() {
    return 'JSON required: send "Content-Type: application/json".'
  }
}

export class ActionsAreOff extends Schema.TaggedError<ActionsAreOff>()("vitrine/ActionsAreOff", {
  host: Schema.String
}) {
  override get message() {
    return `Actions are off: the dashboard listens on "${this.host}", beyond this machine. Set its "token" to allow them.`
  }
}

export class ActionNotAllowed extends Schema.TaggedError<ActionNotAllowed>()("vitrine/ActionNotAllowed", {
  type: Schema.String
}) {
  override get message() {
    return `Action not allowed: ${JSON.stringify(this.type)}. There are "content.hold", "content.rollback" and "content.resume", and the same of other contents.`
  }
}

export class TooManyConnections extends Schema.TaggedError<TooManyConnections>()(
  "vitrine/TooManyDashboardConnections",
  { limit: Schema.Number }
) {
  override get message() {
    return `Too many connections: all ${this.limit} are in use. Try again later.`
  }
}
