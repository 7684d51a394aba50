/**
 * The routes of webhooks: `/v0/bases/{baseId}/webhooks` and what is below it.
 */
import { randomBytes } from "node:crypto"
import * as HttpLayerRouter from "@effect/platform/HttpLayerRouter"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { expects, optional } from "../../../src/internal/Options.ts"
import { notPermitted } from "./ApiError.ts"
import { type ApiDependencies, apiRequest, body, type Failure, type Names, query } from "./apiRequest.ts"
import { lifeKinds, webhookKinds } from "./Faults.ts"
import { decoding, parseObject, valuesOf, wholeNumber } from "./ListQuery.ts"
import { maxLimit, type Payload, type Webhook } from "./Webhook.ts"
import type { Webhooks } from "./Webhooks.ts"

const all = "/v0/bases/:baseId/webhooks"
const one = `${all}/:webhookId` as const

export const webhookRoutes = (dependencies: ApiDependencies & { readonly webhooks: Webhooks }) => {
  const { faults, webhooks } = dependencies

  const respond = <R>(
    kind: "webhooks" | "payloads",
    role: "reader" | "creator",
    answer: (names: Names) => Effect.Effect<unknown, Failure, R>
  ) =>
    apiRequest(
      dependencies,
      () => ({ kind }),
      Effect.fnUntraced(function* (names) {
        if (role === "creator" && Option.isSome(yield* faults.takeOneOf({ kind }, ["no-creator"]))) {
          return yield* notPermitted
        }
        const fault = yield* faults.takeOneOf({ kind }, kind === "payloads" ? webhookKinds : lifeKinds)
        if (Option.isSome(fault)) yield* webhooks.applyFault(names.baseId ?? "", fault.value)
        return yield* answer(names)
      })
    )

  return [
    HttpLayerRouter.route(
      "GET",
      all,
      respond("webhooks", "reader", ({ baseId = "" }) =>
        Effect.map(webhooks.list(baseId), (list) => ({ webhooks: list.map(listed) }))
      )
    ),
    HttpLayerRouter.route(
      "POST",
      all,
      respond("webhooks", "creator", ({ baseId = "" }) =>
        body.pipe(
          Effect.flatMap((text) => Either.flatMap(parseObject(text), decodeWebhook)),
          Effect.flatMap(({ specification }) =>
            webhooks.create(baseId, specification.options.filters.dataTypes)
          ),
          Effect.map((webhook) => ({
            id: webhook.id,
            macSecretBase64: randomBytes(32).toString("base64"),
            ...expiration(webhook)
          }))
        )
      )
    ),
    HttpLayerRouter.route(
      "GET",
      `${one}/payloads`,
      respond("payloads", "reader", ({ baseId = "", webhookId = "" }) =>
        query.pipe(
          Effect.flatMap((parameters) => Either.flatMap(valuesOf(parameters), decodePayloadsQuery)),
          Effect.flatMap((query) => webhooks.payloads(baseId, webhookId, query)),
          Effect.map((page) => ({ ...page, payloads: page.payloads.map(payload) }))
        )
      )
    ),
    HttpLayerRouter.route(
      "POST",
      `${one}/refresh`,
      respond("webhooks", "creator", ({ baseId = "", webhookId = "" }) =>
        Effect.map(webhooks.refresh(baseId, webhookId), expiration)
      )
    ),
    HttpLayerRouter.route(
      "DELETE",
      one,
      respond("webhooks", "creator", ({ baseId = "", webhookId = "" }) => webhooks.remove(baseId, webhookId))
    )
  ]
}

const object = <Fields extends Schema.Struct.Fields>(fields: Fields, key: string) =>
  expects(Schema.Struct(fields), `an object with "${key}"`)

const DataTypes = expects(
  Schema.NonEmptyArray(Schema.Literal("tableData", "tableFields", "tableMetadata")),
  'an array of "tableData", "tableFields" and "tableMetadata", with one at least'
)

/** Filters that are not implemented are rejected. */
const decodeWebhook = decoding(
  "the webhook",
  Schema.Struct({
    specification: object(
      { options: object({ filters: object({ dataTypes: DataTypes }, "dataTypes") }, "filters") },
      "options"
    ),
    notificationUrl: Schema.optionalWith(expects(Schema.Null, "none: this server sends no notifications"), {
      exact: true
    })
  })
)

const decodePayloadsQuery = decoding(
  "the query",
  Schema.Struct({
    /** The number of the first payload that is wanted. */
    cursor: optional(wholeNumber(Number.MAX_SAFE_INTEGER), 1),
    limit: optional(wholeNumber(maxLimit), maxLimit)
  })
)

const isoTime = (milliseconds: number): string => new Date(milliseconds).toISOString()

const expiration = ({ expiresAt }: Webhook) => ({ expirationTime: isoTime(expiresAt) })

const listed = (webhook: Webhook & { readonly isEnabled: boolean }) => ({
  id: webhook.id,
  specification: { options: { filters: { dataTypes: webhook.dataTypes } } },
  cursorForNextPayload: webhook.nextCursor,
  isHookEnabled: webhook.isEnabled,
  ...expiration(webhook),
  notificationUrl: null,
  areNotificationsEnabled: true,
  lastNotificationResult: null,
  lastSuccessfulNotificationTime: null
})

const payload = ({ body, noticedAt, transaction }: Payload) => ({
  timestamp: isoTime(noticedAt),
  baseTransactionNumber: transaction,
  actionMetadata: { source: "unknown" },
  payloadFormat: "v0",
  ...body
})
