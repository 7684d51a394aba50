/**
 * What goes wrong with webhooks on purpose, before a request about them is answered.
 */
import * as Arr from "effect/Array"
import type { CallManner } from "../faults/Fault.ts"
import { maxLimit } from "./PayloadsQuery.ts"
import * as Webhook from "./Webhook.ts"

/** Of every request about webhooks. */
export const lifeFaults = ["disabled", "deleted"] as const satisfies ReadonlyArray<CallManner>

/** Of listings of payloads. */
export const webhookFaults = [
  ...lifeFaults,
  "invalid-filters",
  "invalid-hook",
  "internal-error",
  "unknown-error",
  "dropped",
  "endless"
] as const satisfies ReadonlyArray<CallManner>

export type WebhookFault = (typeof webhookFaults)[number]

/** What becomes of a webhook; nothing where it is gone. `here` is of the payloads that it gets. */
export const harm = (
  webhook: Webhook.Webhook,
  fault: WebhookFault,
  here: Pick<Webhook.Payload, "noticedAt" | "transaction">
): ReadonlyArray<Webhook.Webhook> => {
  const fail = (code: string) => [
    Webhook.append(webhook, [{ ...here, body: { error: true, code } }], here.noticedAt)
  ]
  switch (fault) {
    case "disabled":
      return [Webhook.disable(webhook, here.noticedAt)]
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
      return [Webhook.append(webhook, Arr.replicate({ ...here, body: {} }, maxLimit + 1), here.noticedAt)]
  }
}
