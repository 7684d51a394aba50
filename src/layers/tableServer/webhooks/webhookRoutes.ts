/**
 * The routes of webhooks: `/v0/bases/{baseId}/webhooks` and what is below it.
 */

import { randomBytes } from "node:crypto"
import * as HttpRouter from "@effect/platform/HttpLayerRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import type { TableFolderError } from "../../../services/TableServer.ts"
import { type ApiError, notPermitted } from "../ApiError.ts"
import { type ApiDependencies, apiRequest } from "../apiRequest.ts"
import { readJsonBody } from "../readJsonBody.ts"
import { decodePayloadsQuery } from "./PayloadsQuery.ts"
import type { Payload, Webhook } from "./Webhook.ts"
import { decodeWebhookBody } from "./WebhookBody.ts"
import type { Webhooks } from "./Webhooks.ts"
import { lifeFaults, webhookFaults } from "./webhookFaults.ts"

const all = "/v0/bases/:baseId/webhooks"
const one = `${all}/:webhookId` as const

export const webhookRoutes = (dependencies: ApiDependencies & { readonly webhooks: Webhooks }) => {
  const { faults, webhooks } = dependencies

  /** Responds with JSON; with an empty body where there is none. */
  const respond = <R>(
    kind: "webhooks" | "payloads",
    role: "reader" | "creator",
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
        Effect.gen(function* () {
          if (role === "creator" && Option.isSome(yield* faults.takeOneOf({ kind }, ["no-creator"]))) {
            return yield* notPermitted
          }
          const fault = yield* faults.takeOneOf({ kind }, kind === "payloads" ? webhookFaults : lifeFaults)
          if (Option.isSome(fault)) yield* webhooks.harm(baseId, fault.value)
          const body = yield* answer({ baseId, webhookId })
          return body === undefined
            ? HttpServerResponse.empty({ status: 200 })
            : HttpServerResponse.unsafeJson(body)
        })
      )
    )

  return Layer.mergeAll(
    HttpRouter.add(
      "GET",
      all,
      respond("webhooks", "reader", ({ baseId }) =>
        Effect.map(webhooks.list(baseId), (list) => ({ webhooks: list.map(listed) }))
      )
    ),
    HttpRouter.add(
      "POST",
      all,
      respond("webhooks", "creator", ({ baseId }) =>
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
      respond("payloads", "reader", ({ baseId, webhookId }) =>
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
      respond("webhooks", "creator", ({ baseId, webhookId }) =>
        Effect.map(webhooks.refresh(baseId, webhookId), expiration)
      )
    ),
    HttpRouter.add(
      "DELETE",
      one,
      respond("webhooks", "creator", ({ baseId, webhookId }) => webhooks.remove(baseId, webhookId))
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
