/**
 * `vitrine watch`: the webhooks that list what changes in a hosted base, for users with the token of a creator.
 */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as webhooks from "../sources/airtable/watchWebhooks.ts"
import { loadEnvironment } from "./loadEnvironment.ts"
import type { Arguments, Options } from "./options.ts"

export class WatchMistake extends Schema.TaggedError<WatchMistake>()("vitrine/WatchMistake", {
  detail: Schema.String
}) {
  override get message() {
    return `vitrine watch: ${this.detail}.`
  }
}

export const run = ({ base = "", endpoint, envFile }: Options, ...[action, webhook]: Arguments) =>
  Effect.gen(function* () {
    yield* loadEnvironment(envFile)
    const apiKey = process.env.TABLE_API_KEY ?? ""
    if (apiKey === "") {
      return yield* new WatchMistake({
        detail: "the environment variable TABLE_API_KEY is not set: it holds the token for the base"
      })
    }
    const hosted = { baseId: base, apiKey, ...(endpoint === undefined ? {} : { endpointUrl: endpoint }) }
    if (action === "create") {
      return yield* webhooks.create(hosted)
    }
    if (action === "list") {
      return yield* webhooks.list(hosted)
    }
    return yield* webhook === undefined
      ? new WatchMistake({ detail: 'which one? "vitrine watch list" has their ids' })
      : webhooks.remove(hosted, webhook)
  }).pipe(Effect.flatMap(Console.log))
