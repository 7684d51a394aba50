/**
 * `vitrine watch`: the webhooks that list what changes in a hosted base, for users with the token of a creator.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import { loadEnvironment } from "./loadEnvironment.ts"
import type { Options } from "./options.ts"

interface Base {
  readonly baseId: string
  readonly apiKey: string
  readonly endpointUrl?: string
}

/** Gives what there is to say. */
type Action = Effect.Effect<string, unknown, HttpClient.HttpClient>

/** The module of the webhooks of a base. */
interface Webhooks {
  readonly create: (base: Base) => Action
  readonly list: (base: Base) => Action
  readonly remove: (base: Base, id: string) => Action
}

export const makeRun =
  (webhooks: Webhooks) =>
  ({ base = "", endpoint, envFile }: Options, action?: string, webhook?: string) =>
    Effect.gen(function* () {
      yield* loadEnvironment(envFile)
      const apiKey = process.env.TABLE_API_KEY ?? ""
      if (apiKey === "") {
        return yield* new WatchMistake({
          detail: "the environment variable TABLE_API_KEY is not set: it holds the token for the base"
        })
      }
      const hosted = {
        baseId: base,
        apiKey,
        ...(endpoint === undefined ? {} : { endpointUrl: endpoint })
      }
      yield* Console.log(yield* act(webhooks, hosted, action, webhook))
    })

export class WatchMistake extends Schema.TaggedError<WatchMistake>()("vitrine/WatchMistake", {
  detail: Schema.String
}) {
  override get message() {
    return `vitrine watch: ${this.detail}.`
  }
}

const act = (
  webhooks: Webhooks,
  base: Base,
  action: string | undefined,
  webhook: string | undefined
): Action => {
  switch (action) {
    case "create":
      return webhooks.create(base)
    case "remove":
      return webhook === undefined
        ? new WatchMistake({ detail: 'which one? "vitrine watch list" has their ids' })
        : webhooks.remove(base, webhook)
    default:
      return webhooks.list(base)
  }
}
