/**
 * The webhooks of a hosted base that notify no address: lists of what has changed in it.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import type { TableError } from "../../../services/TableSourceClient.ts"
import type { AirtableClientOptions } from "./AirtableOptions.ts"
import type { Api } from "./api.ts"
import type { BaseRequest } from "./requests.ts"
import { decodeOther } from "./responses.ts"

const orNull = <A, I>(schema: Schema.Schema<A, I>) =>
  Schema.optionalWith(Schema.NullOr(schema), { exact: true })

const Webhook = Schema.Struct({
  id: Schema.NonEmptyString,
  isHookEnabled: Schema.optionalWith(Schema.Boolean, { exact: true, default: () => true }),
  /** The number of the next change that it will list. */
  cursorForNextPayload: Schema.optionalWith(Schema.NonNegativeInt, { exact: true, default: () => 1 }),
  /** ISO 8601; missing where it has no end. */
  expirationTime: orNull(Schema.String),
  notificationUrl: orNull(Schema.String),
  specification: orNull(
    Schema.Struct({
      options: orNull(
        Schema.Struct({ filters: orNull(Schema.Record({ key: Schema.String, value: Schema.Unknown })) })
      )
    })
  )
})
export type Webhook = typeof Webhook.Type

const Payloads = Schema.Struct({
  payloads: Schema.Array(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
  cursor: Schema.NonNegativeInt,
  mightHaveMore: Schema.optionalWith(Schema.Boolean, { exact: true, default: () => false })
})

/** A part of the changes, and where the next part begins. */
export type Payloads = typeof Payloads.Type

const Created = Schema.Struct({ id: Schema.NonEmptyString })

/** The API allows ten. */
const maxWebhooks = 100

const decodeList = decodeOther(
  Schema.Struct({ webhooks: Schema.Array(Webhook).pipe(Schema.maxItems(maxWebhooks)) }),
  "a list of webhooks"
)
const decodeCreated = decodeOther(Created, "a webhook")
const decodePayloads = decodeOther(Payloads, "a list of changes")
const decodeNothing = decodeOther(Schema.Unknown, "nothing")

/** How many changes are listed at once, as many as the API gives. */
const limit = 50

/** Without scopes, which become invalid when what they name is removed. */
const specification = {
  options: { filters: { dataTypes: ["tableData", "tableFields", "tableMetadata"] } }
}

/** The webhooks of a base. */
export interface Webhooks {
  readonly list: Effect.Effect<ReadonlyArray<Webhook>, TableError>

  /** Gives its id. */
  readonly create: Effect.Effect<string, TableError>

  readonly remove: (id: string) => Effect.Effect<void, TableError>

  /** From the change of this number on. It lives for another week. */
  readonly payloads: (id: string, cursor: number) => Effect.Effect<Payloads, TableError>
}

export const makeWebhooks = (
  { askForOne }: Pick<Api, "askForOne">,
  { baseId }: Pick<AirtableClientOptions, "baseId">
): Webhooks => {
  const request = (method: BaseRequest["method"], ...below: ReadonlyArray<string>) =>
    ({ table: "", method, path: ["bases", baseId, "webhooks", ...below] }) as const
  const reader = 'the scope "webhook:manage"'
  const creator = 'the scope "webhook:manage" and the role of a creator of the base'

  return {
    list: Effect.map(askForOne({ ...request("GET"), needs: reader }, decodeList), ({ webhooks }) => webhooks),

    create: Effect.map(
      askForOne({ ...request("POST"), body: { specification }, needs: creator }, decodeCreated),
      ({ id }) => id
    ),

    remove: (id) => Effect.asVoid(askForOne({ ...request("DELETE", id), needs: creator }, decodeNothing)),

    payloads: (id, cursor) =>
      askForOne(
        {
          ...request("GET", id, "payloads"),
          parameters: { cursor: String(cursor), limit: String(limit) },
          needs: reader
        },
        decodePayloads
      )
  }
}

/** Whether it notifies no address, and lists the changes in all tables. */
export const isPlain = ({ notificationUrl, specification }: Webhook): boolean => {
  const filters = specification?.options?.filters ?? {}
  return (
    (notificationUrl ?? "") === "" &&
    Array.isArray(filters.dataTypes) &&
    filters.dataTypes.includes("tableData") &&
    Object.entries(filters).every(([key, filter]) => key === "dataTypes" || Predicate.isNullable(filter))
  )
}

/** Whether changes are being listed at this time, in milliseconds since 1970. */
export const isAlive = ({ expirationTime, isHookEnabled }: Webhook, now: number): boolean => {
  const end = Date.parse(expirationTime ?? "")
  return isHookEnabled && (Number.isNaN(end) || now < end)
}
