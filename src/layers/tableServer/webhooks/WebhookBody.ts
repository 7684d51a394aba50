/**
 * What the body of a request for a new webhook asks for.
 */
import * as Either from "effect/Either"
import * as Schema from "effect/Schema"
import { decodeOptions, expects } from "../../../internal/Options.ts"
import { type ApiError, invalidRequest } from "../ApiError.ts"
import type { DataType } from "../changes/TableChange.ts"
import { parseObject } from "../readJsonBody.ts"

const object = <Fields extends Schema.Struct.Fields>(fields: Fields, key: string) =>
  expects(Schema.Struct(fields), `an object with "${key}"`)

const DataTypes = expects(
  Schema.NonEmptyArray(Schema.Literal("tableData", "tableFields", "tableMetadata")),
  'an array of "tableData", "tableFields" and "tableMetadata", with one at least'
)

const WebhookBody = Schema.Struct({
  specification: object(
    { options: object({ filters: object({ dataTypes: DataTypes }, "dataTypes") }, "filters") },
    "options"
  ),
  notificationUrl: Schema.optionalWith(expects(Schema.Null, "none: this server notifies nobody"), {
    exact: true
  })
})

const decodeBody = decodeOptions("the webhook", WebhookBody)

/** The types of changes that it is to watch. Filters that are not implemented are rejected. */
export const decodeWebhookBody = (text: string): Either.Either<ReadonlyArray<DataType>, ApiError> =>
  Either.flatMap(parseObject(text), (body) =>
    Either.mapBoth(decodeBody(body), {
      onLeft: ({ message }) => invalidRequest(message),
      onRight: ({ specification }) => specification.options.filters.dataTypes
    })
  )
