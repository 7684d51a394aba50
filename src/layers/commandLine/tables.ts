/**
 * `vitrine tables`
 */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as TableServer from "../tableServer/TableServer.ts"
import { commands } from "./overview.ts"

export const command = Command.make(
  "tables",
  {
    directory: Args.directory({ name: "DIR" }).pipe(
      Args.withDescription("The folder; each CSV or JSON file in it is a table.")
    ),
    port: Options.integer("port").pipe(
      Options.withDescription("Listening port; 0 picks a free one. Default: 8730."),
      Options.withDefault(8730)
    ),
    attachmentPort: Options.integer("attachment-port").pipe(
      Options.withDescription("The port that attachments come from; 0 picks a free one. Default: 0."),
      Options.withDefault(0)
    ),
    attachmentLinkLifetime: Options.text("attachment-link-lifetime").pipe(
      Options.filterMap(Duration.decodeUnknown, 'Expected a length of time such as "10 seconds".'),
      Options.withDescription(
        'How long the link to an attachment is good for, "10 seconds" for example. Default: 2 hours.'
      ),
      Options.withDefault(Duration.hours(2))
    ),
    host: Options.text("host").pipe(
      Options.withDescription("Interface to bind. Default: 127.0.0.1."),
      Options.withDefault("127.0.0.1")
    ),
    token: Options.text("token").pipe(
      Options.withDescription("The only access token that is accepted. Default: any."),
      Options.optional
    ),
    base: Options.text("base").pipe(
      Options.withDescription("The id of the only base there is. Default: any."),
      Options.optional
    ),
    noRateLimit: Options.boolean("no-rate-limit").pipe(
      Options.withDescription("Answer any number of requests, unlike the hosted API.")
    ),
    faults: Options.text("fault").pipe(
      Options.withDescription(
        'What goes wrong on purpose, "Objects 503 x2" for example; may be given many times.'
      ),
      Options.repeated,
      Options.withDefault([])
    )
  },
  ({ base, noRateLimit, token, ...options }) =>
    Layer.launch(
      TableServer.layer({
        ...options,
        rateLimit: !noRateLimit,
        ...Option.match(token, { onNone: () => ({}), onSome: (token) => ({ token }) }),
        ...Option.match(base, { onNone: () => ({}), onSome: (baseId) => ({ baseId }) })
      })
    )
).pipe(Command.withDescription(commands.tables.description))
