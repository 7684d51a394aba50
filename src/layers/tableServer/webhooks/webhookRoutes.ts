/**
 * The routes of webhooks: `/v0/bases/{baseId}/webhooks` and what is below it.
 */

import { randomBytes } from "node:crypto"
import * as HttpRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { TableFolderError } from "../../../services/TableServer.ts"
import type { ApiError } from "../ApiError.ts"
import { type ApiDependencies, apiRequest } from "../apiRequest.ts"
import { readJsonBody } from "../readJsonBody.ts"
import { decodePayloadsQuery } from "./PayloadsQuery.ts"
import type { Payload, Webhook } from "./Webhook.ts"
import { decodeWebhookBody } from "./WebhookBody.ts"
import type { Webhooks } from "./Webhooks.ts"

const all = "/v0/bases/:baseId/webhooks"
const one = `${all}/:webhookId` as const

export const webhookRoutes = (dependencies: ApiDependencies & { readonly webhooks: Webhooks }) => {
  const { webhooks } = dependencies

  /** Responds with JSON; with an empty body where there is none. */
  const respond = <R>(
    kind: "webhooks" | "payloads",
    answer: (names: {
      readonly baseId: string
      readonly webhookId: string
    }) => Effect.Effect<unknown, ApiError | TableFolderError, R>
  ) =>
    Effect.flatMap(HttpRouter.params, ({ baseId = "", webhookId = "" }) =>
      apiRequest(
        dependencies,
        baseId,
        { kind },
        Effect.map(answer({ baseId, webhookId }), (body) =>
          body === undefined ? HttpServerResponse.empty({ status: 200 }) : HttpServerResponse.unsafeJson(body)
        )
      )
    )

  return Layer.mergeAll(
    HttpRouter.add(
      "GET",
      all,
      respond("webhooks", ({ baseId }) =>
        Effect.map(webhooks.list(baseId), (list) => ({ webhooks: list.map(listed) }))
      )
    ),
    HttpRouter.add(
      "POST",
      all,
      respond("webhooks", ({ baseId }) =>
        HttpServerRequest.HttpServerRequest.pipe(
          Effect.flatMap(readJsonBody),
          Effect.flatMap(decodeWebhookBody),
          Effect.flatMap((dataTypes) => webhooks.create(baseId, dataTypes)),
          Effect.map((webhook) => ({
            id: webhook.id,
            macSecretBase64: randomBytes(32).toString("base64"),
            ...expiration(webhook)
          }))
        )
      )
    ),
    HttpRouter.add(
      "GET",
      `${one}/payloads`,
      respond("payloads", ({ baseId, webhookId }) =>
        HttpServerRequest.ParsedSearchParams.pipe(
          Effect.flatMap(decodePayloadsQuery),
          Effect.flatMap((query) => webhooks.payloads(baseId, webhookId, query)),
          Effect.map((page) => ({ ...page, payloads: page.payloads.map(payload) }))
        )
      )
    ),
    HttpRouter.add(
      "POST",
      `${one}/refresh`,
      respond("webhooks", ({ baseId, webhookId }) =>
        Effect.map(webhooks.refresh(baseId, webhookId), expiration)
      )
    ),
    HttpRouter.add(
      "DELETE",
      one,
      respond("webhooks", ({ baseId, webhookId }) => webhooks.remove(baseId, webhookId))
    )
  )
}

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
