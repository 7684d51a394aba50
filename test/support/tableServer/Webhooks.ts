/**
 * The webhooks of every base, in memory. The folder of tables is looked at when they are asked for, at no other time.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { invalidRequest, notFound, tooManyWebhooks } from "./ApiError.ts"
import type { WebhookKind } from "./Faults.ts"
import type { FolderChanges } from "./FolderChanges.ts"
import { newWebhookId } from "./identifiers.ts"
import type { DataType } from "./TableChange.ts"
import * as Webhook from "./Webhook.ts"

export type Webhooks = Effect.Effect.Success<ReturnType<typeof make>>

/** As with the hosted API. */
export const maxWebhooks = 10

export const make = Effect.fnUntraced(function* (changes: FolderChanges) {
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
    const replace = (by: ReadonlyArray<Webhook.Webhook>) =>
      bases.set(
        baseId,
        webhooks.flatMap((one) => (one === webhook ? by : [one]))
      )
    return { now, replace, webhook }
  })

  /** Extends the life of a webhook unless it is disabled. */
  const extend = Effect.fnUntraced(function* (baseId: string, id: string) {
    const { now, replace, webhook } = yield* find(baseId, id)
    const extended = Webhook.extend(webhook, now)
    replace([extended])
    return { extended, isEnabled: Webhook.isEnabled(extended, now) }
  })

  return {
    /** Changes that were made before it are not among its payloads. */
    create: Effect.fn("Webhooks.create")(function* (baseId: string, dataTypes: ReadonlyArray<DataType>) {
      yield* notice
      const { now, webhooks } = yield* current(baseId)
      if (webhooks.length >= maxWebhooks) {
        return yield* tooManyWebhooks(maxWebhooks)
      }
      const webhook = Webhook.make(newWebhookId(), dataTypes, now)
      bases.set(baseId, [...webhooks, webhook])
      return webhook
    }, oneAtATime),

    /** The enabled ones, and those that were disabled less than a week ago. */
    list: Effect.fn("Webhooks.list")(function* (baseId: string) {
      yield* notice
      const { now, webhooks } = yield* current(baseId)
      return webhooks.map((webhook) => ({ ...webhook, isEnabled: Webhook.isEnabled(webhook, now) }))
    }, oneAtATime),

    /** Extends the life of a webhook that is enabled. */
    payloads: Effect.fn("Webhooks.payloads")(function* (
      baseId: string,
      id: string,
      { cursor, limit }: { readonly cursor: number; readonly limit: number }
    ) {
      yield* notice
      const { extended } = yield* extend(baseId, id)
      return cursor <= extended.nextCursor
        ? Webhook.pageAt(extended, cursor, limit)
        : yield* invalidRequest(
            `The cursor ${cursor} is too high: the next payload will have ${extended.nextCursor}.`
          )
    }, oneAtATime),

    /** Extends the life of a webhook, and fails where it is disabled. */
    refresh: Effect.fn("Webhooks.refresh")(function* (baseId: string, id: string) {
      const { extended, isEnabled } = yield* extend(baseId, id)
      return isEnabled
        ? extended
        : yield* invalidRequest("The webhook has expired and is disabled. Create a new one.")
    }, oneAtATime),

    remove: Effect.fn("Webhooks.remove")(function* (baseId: string, id: string) {
      const { replace } = yield* find(baseId, id)
      replace([])
    }, oneAtATime),

    /** Does to all webhooks of a base what goes wrong with them on purpose, after the changes until now. */
    applyFault: Effect.fn("Webhooks.applyFault")(function* (baseId: string, kind: WebhookKind) {
      yield* notice
      const { now, webhooks } = yield* current(baseId)
      transactions += 1
      const here = { noticedAt: now, transaction: transactions }
      bases.set(
        baseId,
        webhooks.flatMap((webhook) => Webhook.applyFault(webhook, kind, here))
      )
    }, oneAtATime)
  }
})
