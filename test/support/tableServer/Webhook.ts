/**
 * A webhook that notifies no address: a list of payloads with a number for each, and the time until which it lives.
 */
import * as Arr from "effect/Array"
import type { WebhookKind } from "./Faults.ts"
import type { ChangeBody, DataType } from "./TableChange.ts"

export interface Webhook {
  readonly id: string
  /** Which changes it has payloads of. */
  readonly dataTypes: ReadonlyArray<DataType>
  /** When it is disabled, in milliseconds since 1970. */
  readonly expiresAt: number
  /** The oldest first. */
  readonly payloads: ReadonlyArray<Payload>
  /** The number that the next payload will have. The first has 1. */
  readonly nextCursor: number
}

export interface Payload {
  /** When the change was noticed, in milliseconds since 1970. */
  readonly noticedAt: number
  /** Payloads with the same number belong together. */
  readonly transaction: number
  /** Which webhooks have it: those that watch this. Absent for all. */
  readonly dataType?: DataType
  readonly body: ChangeBody | { readonly error: true; readonly code: string }
}

/** How long a webhook lives unless it is read, how long it is listed after that, and how long a payload is kept. */
export const weekMs = 7 * 24 * 60 * 60 * 1000

/**
 * How many payloads a webhook keeps. The oldest are dropped before they are a week old where there are more: the page of
 * a reader who has not seen them begins, and its cursor goes on, after what is gone.
 */
export const maxPayloads = 1000

export const make = (id: string, dataTypes: ReadonlyArray<DataType>, now: number): Webhook => ({
  id,
  dataTypes,
  expiresAt: now + weekMs,
  payloads: [],
  nextCursor: 1
})

export const isEnabled = ({ expiresAt }: Webhook, now: number): boolean => now < expiresAt

export const isListed = ({ expiresAt }: Webhook, now: number): boolean => now < expiresAt + weekMs

/** Lives for another week, unless it is disabled already. */
export const extend = (webhook: Webhook, now: number): Webhook =>
  isEnabled(webhook, now) ? { ...webhook, expiresAt: now + weekMs } : webhook

/** Adds the payloads that it watches, while it is enabled. */
export const append = (webhook: Webhook, payloads: ReadonlyArray<Payload>, now: number): Webhook => {
  const own = payloads.filter(
    ({ dataType }) => dataType === undefined || webhook.dataTypes.includes(dataType)
  )
  return isEnabled(webhook, now) && own.length > 0
    ? {
        ...webhook,
        payloads: [...webhook.payloads, ...own].slice(-maxPayloads),
        nextCursor: webhook.nextCursor + own.length
      }
    : webhook
}

/** Without the payloads that are over a week old. */
export const prune = (webhook: Webhook, now: number): Webhook => ({
  ...webhook,
  payloads: webhook.payloads.filter(({ noticedAt }) => now - noticedAt < weekMs)
})

/** The page of a reader whose cursor is not after `nextCursor`. */
export const pageAt = ({ nextCursor, payloads }: Webhook, cursor: number, limit: number) => {
  const oldest = nextCursor - payloads.length
  const from = Math.max(cursor, oldest)
  const page = payloads.slice(from - oldest, from - oldest + limit)
  const next = from + page.length
  return { payloads: page, cursor: next, mightHaveMore: next < nextCursor }
}

/** How many payloads a page has at most. */
export const maxLimit = 50

/**
 * What becomes of a webhook that goes wrong on purpose; nothing where it is gone. `here` is of the payloads that it gets.
 */
export const applyFault = (
  webhook: Webhook,
  kind: WebhookKind,
  here: Pick<Payload, "noticedAt" | "transaction">
): ReadonlyArray<Webhook> => {
  const now = here.noticedAt
  const fail = (code: string) => [append(webhook, [{ ...here, body: { error: true, code } }], now)]
  switch (kind) {
    case "disabled":
      return [{ ...webhook, expiresAt: Math.min(webhook.expiresAt, now) }]
    case "deleted":
      return []
    case "invalid-filters":
      return fail("INVALID_FILTERS")
    case "invalid-hook":
      return fail("INVALID_HOOK")
    case "internal-error":
      return fail("INTERNAL_ERROR")
    case "unknown-error":
      return fail("SOMETHING_NEW")
    case "dropped":
      return [{ ...webhook, payloads: [], nextCursor: webhook.nextCursor + 1 }]
    case "endless":
      return [append(webhook, Arr.replicate({ ...here, body: {} }, maxLimit + 1), now)]
  }
}
