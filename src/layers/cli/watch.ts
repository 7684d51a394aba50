/**
 * `vitrine watch`: the webhooks that list what changes in a hosted base, for users with the token of a creator.
 */
import type * as HttpClient from "@effect/platform/HttpClient"
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Command from "./Command.ts"
import { loadEnvironment } from "./loadEnvironment.ts"
import { envFileOption } from "./options.ts"
import { commands } from "./overview.ts"
import * as Parameter from "./Parameter.ts"

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

export const makeCommand = (webhooks: Webhooks) =>
  Command.make({
    name: "watch",
    description: commands.watch.description,
    parameters: {
      action: Parameter.required(
        Parameter.argument({
          name: "ACTION",
          description: "create makes a webhook, unless there is one that will do; list; remove."
        })
      ),
      webhook: Parameter.argument({ name: "WEBHOOK", description: "The id of the one to remove, ach…" }),
      base: Parameter.required(
        Parameter.text({ name: "base", value: "ID", description: "The id of the base, app…" })
      ),
      endpoint: Parameter.text({
        name: "endpoint",
        value: "URL",
        description: "Where the API is. Default: https://api.airtable.com."
      }),
      envFile: envFileOption
    },
    run: ({ action, base, endpoint, envFile, webhook }) =>
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
          ...Option.match(endpoint, { onNone: () => ({}), onSome: (endpointUrl) => ({ endpointUrl }) })
        }
        yield* Console.log(yield* act(webhooks, hosted, action, webhook))
      })
  })

export class WatchMistake extends Schema.TaggedError<WatchMistake>()("vitrine/WatchMistake", {
  detail: Schema.String
}) {
  override get message() {
    return `vitrine watch: ${this.detail}.`
  }
}

const act = (webhooks: Webhooks, base: Base, action: string, webhook: Option.Option<string>): Action => {
  switch (action) {
    case "create":
      return webhooks.create(base)
    case "list":
      return webhooks.list(base)
    case "remove":
      return Option.match(webhook, {
        onNone: () => new WatchMistake({ detail: 'which one? "vitrine watch list" has their ids' }),
        onSome: (id) => webhooks.remove(base, id)
      })
    default:
      return new WatchMistake({
        detail: `there is no action ${JSON.stringify(action)}; there are create, list and remove`
      })
  }
}
