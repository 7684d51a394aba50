/**
 * The answers of the API when it refuses something: status, type and shape are the hosted API's, the words
 * are our own.
 */
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Schema from "effect/Schema"

export class ApiError extends Schema.TaggedError<ApiError>()("vitrine/ApiError", {
  status: Schema.Number,
  body: Schema.Unknown,
  /** In seconds, for the header of that name. */
  retryAfter: Schema.optional(Schema.Number)
}) {
  override get message() {
    return `${this.status} ${JSON.stringify(this.body)}`
  }
}

const typed = (status: number, type: string, message: string) =>
  new ApiError({ status, body: { error: { type, message } } })

const unprocessable = (type: string, message: string) => typed(422, type, message)

const quoted = (names: ReadonlyArray<string>): string =>
  names.length === 0 ? "none" : names.map((name) => JSON.stringify(name)).join(", ")

export const notFound = new ApiError({ status: 404, body: { error: "NOT_FOUND" } })

export const unauthorized = (message: string) => typed(401, "AUTHENTICATION_REQUIRED", message)

export const unknownModel = (message: string) => typed(403, "INVALID_PERMISSIONS_OR_MODEL_NOT_FOUND", message)

export const notPermitted = typed(
  403,
  "INVALID_PERMISSIONS",
  "You are not permitted to perform this operation: it needs the role of a creator of the base."
)

export const unknownTable = (table: string, known: ReadonlyArray<string>) =>
  unknownModel(`There is no table ${JSON.stringify(table)}. Tables here: ${quoted(known)}.`)

export const unknownView = (view: string, known: ReadonlyArray<string>) =>
  unprocessable(
    "VIEW_NAME_NOT_FOUND",
    `The table has no view ${JSON.stringify(view)}. Views here: ${quoted(known)}.`
  )

export const unknownField = (field: string, known: ReadonlyArray<string>) =>
  unprocessable(
    "UNKNOWN_FIELD_NAME",
    `The table has no field ${JSON.stringify(field)}. Fields here: ${quoted(known)}.`
  )

export const invalidRequest = (message: string) => unprocessable("INVALID_REQUEST_UNKNOWN", message)

export const invalidTableFile = (message: string) => unprocessable("INVALID_TABLE_FILE", message)

/** The iterator that an offset stands for is gone. The hosted API says no more than this. */
export const iteratorNotAvailable = new ApiError({
  status: 422,
  body: { error: { type: "LIST_RECORDS_ITERATOR_NOT_AVAILABLE" } }
})

export const tooManyWebhooks = (max: number) =>
  unprocessable("TOO_MANY_WEBHOOKS_IN_BASE", `The base has ${max} webhooks, and there cannot be more.`)

export const rateLimitReached = (message: string) =>
  new ApiError({ status: 429, body: { errors: [{ error: "RATE_LIMIT_REACHED", message }] } })

export const serverError = (message: string) => typed(500, "SERVER_ERROR", message)

/** The host of attachments has answers of its own; these are like those of the API. */
export const linkInvalid = typed(403, "LINK_INVALID", "The signature of this link is wrong.")

export const linkExpired = typed(403, "LINK_EXPIRED", "This link has expired. List the records again.")

export const attachmentGone = typed(
  404,
  "NOT_FOUND",
  "The file of this link is gone or has other content now."
)

export const authorizationNotAllowed = typed(
  400,
  "AUTHORIZATION_NOT_ALLOWED",
  'The link is all that is needed: an "Authorization" header must not be sent to the host of attachments.'
)

export const quotaSpent = new ApiError({
  status: 429,
  body: {
    errors: [
      {
        error: "PUBLIC_API_BILLING_LIMIT_EXCEEDED",
        message: "The monthly number of API calls of this workspace is spent."
      }
    ]
  }
})

/** An error of which no more is known than its status. */
export const errorOfStatus = (status: number, retryAfter?: number) =>
  new ApiError({ status, body: likeStatus(status).body, retryAfter })

const likeStatus = (status: number): ApiError => {
  const message = "The local table server was told to have this fault."
  switch (status) {
    case 401:
      return unauthorized(message)
    case 403:
      return unknownModel(message)
    case 404:
      return notFound
    case 422:
      return invalidRequest(message)
    case 429:
      return rateLimitReached(message)
    case 503:
      return typed(503, "SERVICE_UNAVAILABLE", message)
    default:
      return status < 500 ? invalidRequest(message) : serverError(message)
  }
}

export const responseOf = ({ body, retryAfter, status }: ApiError) =>
  HttpServerResponse.unsafeJson(body, {
    status,
    headers: retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }
  })
