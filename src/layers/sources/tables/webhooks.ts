/**
 * The webhooks of a hosted base that notify no address: lists of what has changed in it.
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { TableError } from "../../../services/TableSourceClient.ts"
import type { Api } from "./api.ts"
import type { BaseRequest } from "./requests.ts"
import { decodeOther } from "./responses.ts"
import type { AirtableClientOptions } from "./TableOptions.ts"

const Payloads = Schema.Struct({
  payloads: Schema.Array(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
  cursor: Schema.NonNegativeInt,
  mightHaveMore: Schema.optionalWith(Schema.Boolean, { exact: true, default: () => false })
})

/** A part of the changes, and where the next part begins. */
export type Payloads = typeof Payloads.Type

const Created = Schema.Struct({ id: Schema.NonEmptyString })

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
  /** Gives the id of the new webhook. */
  readonly create: Effect.Effect<string, TableError>

  readonly remove: (id: string) => Effect.Effect<void, TableError>

  /** The changes from this number on. The webhook lives for another week. */
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
