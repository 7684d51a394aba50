/**
 * The errors of a request, each with its HTTP status.
 */
import type * as Cause from "effect/Cause"
import * as Data from "effect/Data"
import type { DispatchError } from "../../services/CommandBus.ts"
import type { NoPicture } from "../../services/ScreenPictures.ts"

/** The error in the response. */
interface Details {
  readonly message: string
  /** Added to the headers of every response. */
  readonly headers?: Readonly<Record<string, string>>
}

// Written out, because the declarations of a package cannot refer to private types of Effect.
type Refusal<Tag extends string> = new (
  details: Details
) => Cause.YieldableError & Details & { readonly _tag: `vitrine/${Tag}`; readonly status: number }

const refusal = <Tag extends string>(tag: Tag, status: number): Refusal<Tag> =>
  class extends Data.TaggedError(`vitrine/${tag}`)<Details> {
    readonly status = status
  }

export class BadRequest extends refusal("BadRequest", 400) {}
export class TokenRequired extends refusal("TokenRequired", 401) {}
export class CommandNotAllowed extends refusal("CommandNotAllowed", 403) {}
export class HostNotAllowed extends refusal("HostNotAllowed", 403) {}
export class OriginNotAllowed extends refusal("OriginNotAllowed", 403) {}
export class NotFound extends refusal("NotFound", 404) {}
export class MethodNotAllowed extends refusal("MethodNotAllowed", 405) {}
export class PictureNotWanted extends refusal("PictureNotWanted", 409) {}
export class PreconditionFailed extends refusal("PreconditionFailed", 412) {}
export class BodyTooLarge extends refusal("BodyTooLarge", 413) {}
export class JsonRequired extends refusal("JsonRequired", 415) {}
export class RangeNotSatisfiable extends refusal("RangeNotSatisfiable", 416) {}
export class TooManyRequests extends refusal("TooManyRequests", 429) {}
export class PictureRefused extends refusal("PictureRefused", 502) {}
export class NoRoom extends refusal("NoRoom", 503) {}
export class TooManyClients extends refusal("TooManyClients", 503) {}
export class TooManyConnections extends refusal("TooManyConnections", 503) {}
export class PictureLate extends refusal("PictureLate", 504) {}

/** The disk fails, or the controller's user has no permission to read the file. The log has the cause. */
export class Unreadable extends Data.TaggedError("vitrine/FileUnreadable")<{ readonly cause: unknown }> {
  readonly status = 500
  readonly headers = {}
  override get message() {
    return "The file could not be read. The log of the controller says why."
  }
}

export const methodNotAllowed = (method: string) =>
  new MethodNotAllowed({
    message: `Method not allowed: ${method}. There are GET, HEAD and OPTIONS.`,
    headers: { Allow: "GET, HEAD, OPTIONS" }
  })

export const originNotAllowed = (reason: string) =>
  new OriginNotAllowed({ message: `Origin not allowed: ${reason}` })

/** The message says which token is required. */
export const tokenRequired = (message: string) =>
  new TokenRequired({ message, headers: { "WWW-Authenticate": "Bearer" } })

export const jsonRequired = new JsonRequired({
  message: 'JSON required: send "Content-Type: application/json".'
})

export const bodyTooLarge = (limit: number) =>
  new BodyTooLarge({ message: `The body exceeds ${limit} bytes.` })

/** For a route that is asked for a picture. */
export const noPicture = ({ message, reason }: NoPicture) => {
  switch (reason) {
    case "late":
      return new PictureLate({ message })
    case "refused":
      return new PictureRefused({ message })
    default:
      return new NotFound({ message })
  }
}

export const tooManyClients = (maxClients: number) =>
  new TooManyClients({
    message: `Too many SSE clients: all ${maxClients} event streams are in use. Raise "maxClients", or close a client.`
  })

export type RequestError =
  | BadRequest
  | BodyTooLarge
  | CommandNotAllowed
  | DispatchError
  | HostNotAllowed
  | JsonRequired
  | MethodNotAllowed
  | NoRoom
  | NotFound
  | OriginNotAllowed
  | PictureLate
  | PictureNotWanted
  | PictureRefused
  | PreconditionFailed
  | RangeNotSatisfiable
  | TokenRequired
  | TooManyClients
  | TooManyConnections
  | TooManyRequests
  | Unreadable
