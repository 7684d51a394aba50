/**
 * The webhooks of every base, in memory. The folder of tables is looked at when they are asked for, at no other time.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type { TableFolderError } from "../../../services/TableServer.ts"
import { type ApiError, invalidRequest, notFound, tooManyWebhooks } from "../ApiError.ts"
import type { FolderChanges } from "../changes/FolderChanges.ts"
import type { DataType } from "../changes/TableChange.ts"
import { newWebhookId } from "../tables/identifiers.ts"
import type { PayloadsQuery } from "./PayloadsQuery.ts"
import * as Webhook from "./Webhook.ts"
import { harm, type WebhookFault } from "./webhookFaults.ts"

export interface Webhooks {
  /** Changes that were made before it are not among its payloads. */
  readonly create: (
    baseId: string,
    dataTypes: ReadonlyArray<DataType>
  ) => Effect.Effect<Webhook.Webhook, ApiError | TableFolderError>

  /** The enabled ones, and those that were disabled less than a week ago. */
  readonly list: (
    baseId: string
  ) => Effect.Effect<ReadonlyArray<Webhook.Webhook & { readonly isEnabled: boolean }>, TableFolderError>

  /** Extends the life of a webhook that is enabled. */
  readonly payloads: (
    baseId: string,
    id: string,
    query: PayloadsQuery
  ) => Effect.Effect<Webhook.Page, ApiError | TableFolderError>

  /** Extends the life of a webhook, and fails where it is disabled. */
  readonly refresh: (baseId: string, id: string) => Effect.Effect<Webhook.Webhook, ApiError>

  readonly remove: (baseId: string, id: string) => Effect.Effect<void, ApiError>

  /** Does to all webhooks of a base what goes wrong with them on purpose, after the changes until now. */
  readonly harm: (baseId: string, fault: WebhookFault) => Effect.Effect<void, TableFolderError>
}

/** As with the hosted API. */
export const maxWebhooks = 10

/** Bases are named by clients: of more than these, the webhooks of the one used longest ago are forgotten. */
export const maxBases = 100

export const make = (changes: FolderChanges): Effect.Effect<Webhooks> =>
  Effect.gen(function* () {
    const bases = new Map<string, ReadonlyArray<Webhook.Webhook>>()
    const oneAtATime = (yield* Effect.makeSemaphore(1)).withPermits(1)
    let transactions = 0

    /** Gives every webhook the changes since the last time. */
    const notice = Effect.flatMap(Clock.currentTimeMillis, (now) =>
      changes.look((changed) => {
        const payloads = changed.flatMap((parts) => {
          transactions += 1
          return parts.map((part) => ({ ...part, noticedAt: now, transaction: transactions }))
        })
        for (const [baseId, webhooks] of bases) {
          bases.set(
            baseId,
            webhooks.map((webhook) => Webhook.append(webhook, payloads, now))
          )
        }
      })
    )

    /** The webhooks of a base as they are now. */
    const current = Effect.fnUntraced(function* (baseId: string) {
      const now = yield* Clock.currentTimeMillis
      const listed = (bases.get(baseId) ?? []).filter((webhook) => Webhook.isListed(webhook, now))
      return { now, webhooks: listed.map((webhook) => Webhook.prune(webhook, now)) }
    })

    const find = Effect.fnUntraced(function* (baseId: string, id: string) {
      const { now, webhooks } = yield* current(baseId)
      const webhook = webhooks.find((one) => one.id === id) ?? (yield* notFound)
      return { now, webhook, webhooks }
    })

    const keep = (baseId: string, webhooks: ReadonlyArray<Webhook.Webhook>) => {
      bases.delete(baseId)
      if (webhooks.length > 0) bases.set(baseId, webhooks)
      for (const oldest of bases.keys()) {
        if (bases.size <= maxBases) break
        bases.delete(oldest)
      }
    }

    /** Extends the life of a webhook unless it is disabled. */
    const extend = Effect.fnUntraced(function* (baseId: string, id: string) {
      const { now, webhook, webhooks } = yield* find(baseId, id)
      const extended = Webhook.extend(webhook, now)
      keep(
        baseId,
        webhooks.map((one) => (one === webhook ? extended : one))
      )
      return { extended, isEnabled: Webhook.isEnabled(extended, now) }
    })

    return {
      create: Effect.fn("Webhooks.create")(function* (baseId, dataTypes) {
        yield* notice
        const { now, webhooks } = yield* current(baseId)
        if (webhooks.length >= maxWebhooks) {
          return yield* tooManyWebhooks(maxWebhooks)
        }
        const webhook = Webhook.make(newWebhookId(), dataTypes, now)
        keep(baseId, [...webhooks, webhook])
        return webhook
      }, oneAtATime),

      list: Effect.fn("Webhooks.list")(function* (baseId) {
        yield* notice
        const { now, webhooks } = yield* current(baseId)
        return webhooks.map((webhook) => ({ ...webhook, isEnabled: Webhook.isEnabled(webhook, now) }))
      }, oneAtATime),

      payloads: Effect.fn("Webhooks.payloads")(function* (baseId, id, { cursor, limit }) {
        yield* notice
        const { extended } = yield* extend(baseId, id)
        return cursor <= extended.nextCursor
          ? Webhook.pageAt(extended, cursor, limit)
          : yield* invalidRequest(
              `The cursor ${cursor} is too high: the next payload will have ${extended.nextCursor}.`
            )
      }, oneAtATime),

      refresh: Effect.fn("Webhooks.refresh")(function* (baseId, id) {
        const { extended, isEnabled } = yield* extend(baseId, id)
        return isEnabled
          ? extended
          : yield* invalidRequest("The webhook has expired and is disabled. Create a new one.")
      }, oneAtATime),

      remove: Effect.fn("Webhooks.remove")(function* (baseId, id) {
        const { webhook, webhooks } = yield* find(baseId, id)
        keep(
          baseId,
          webhooks.filter((one) => one !== webhook)
        )
      }, oneAtATime),

      harm: Effect.fn("Webhooks.harm")(function* (baseId, fault) {
        yield* notice
        const { now, webhooks } = yield* current(baseId)
        transactions += 1
        const here = { noticedAt: now, transaction: transactions }
        keep(
          baseId,
          webhooks.flatMap((webhook) => harm(webhook, fault, here))
        )
      }, oneAtATime)
    }
  })
