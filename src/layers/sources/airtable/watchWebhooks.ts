/**
 * The webhooks of a hosted base, for people: each action gives what there is to say.
 */
import * as Array from "effect/Array"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { excerpt } from "../../../internal/printable.ts"
import { momentText } from "../../../internal/readable.ts"
import * as RequestPacingMemory from "../../memory/RequestPacingMemory.ts"
import { type AirtableClientConfig, decodeClient } from "./AirtableOptions.ts"
import { makeApi } from "./api.ts"
import { isAlive, isPlain, makeWebhooks, type Webhook, type Webhooks } from "./webhooks.ts"

const open = (config: AirtableClientConfig) =>
  Effect.flatMap(decodeClient(config), (options) =>
    Effect.map(makeApi(options), (api) => makeWebhooks(api, options))
  ).pipe(Effect.provide(RequestPacingMemory.layer))

/** Makes one, unless there is one that lists what changes. */
export const create = (config: AirtableClientConfig) => Effect.flatMap(open(config), createOne)

export const list = (config: AirtableClientConfig) =>
  Effect.flatMap(open(config), ({ list }) => Effect.zipWith(list, Clock.currentTimeMillis, listText))

export const remove = (config: AirtableClientConfig, id: string) =>
  Effect.flatMap(open(config), ({ remove }) => Effect.as(remove(id), `Removed ${excerpt(id)}.`))

const createOne = (webhooks: Webhooks) =>
  Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const usable = Array.findFirst(
      yield* webhooks.list,
      (webhook) => isPlain(webhook) && isAlive(webhook, now)
    )
    return Option.isSome(usable)
      ? `There is a webhook already that lists what changes: ${excerpt(usable.value.id)}.`
      : `Made ${excerpt(yield* webhooks.create)}. It lives while somebody reads it once a week. A controller that runs finds it within 10 minutes, one that starts at once.`
  })

const listText = (webhooks: ReadonlyArray<Webhook>, now: number): string =>
  webhooks.length === 0
    ? 'The base has no webhook: "vitrine watch create" makes one.'
    : webhooks.map((webhook) => [excerpt(webhook.id), ...about(webhook, now)].join("  ")).join("\n")

const about = (webhook: Webhook, now: number): ReadonlyArray<string> => {
  const end = new Date(webhook.expirationTime ?? "")
  return [
    isPlain(webhook)
      ? isAlive(webhook, now)
        ? "lists what changes"
        : "disabled"
      : "somebody else's: it has an address, or filters",
    ...(Number.isNaN(end.getTime()) ? [] : [`until ${momentText(end, now)}`])
  ]
}
