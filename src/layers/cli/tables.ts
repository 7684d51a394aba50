/**
 * `vitrine tables`
 */
import type * as FileSystem from "@effect/platform/FileSystem"
import type * as Path from "@effect/platform/Path"
import * as Duration from "effect/Duration"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Command from "./Command.ts"
import { commands } from "./overview.ts"
import * as Parameter from "./Parameter.ts"

/** What the options of the command become; those that were not given are absent. */
interface TableServerOptions {
  readonly directory: string
  readonly host: string
  readonly port: number
  readonly attachmentPort: number
  readonly attachmentLinkLifetime: Duration.Duration
  readonly faults: ReadonlyArray<string>
  readonly rateLimit: boolean
  readonly token?: string
  readonly baseId?: string
}

/** The module of the table server. */
interface TableServer {
  readonly layer: (
    options: TableServerOptions
  ) => Layer.Layer<never, unknown, FileSystem.FileSystem | Path.Path>
}

export const makeCommand = (server: TableServer) =>
  Command.make({
    name: "tables",
    description: commands.tables.description,
    parameters: {
      directory: Parameter.required(
        Parameter.argument({
          name: "DIR",
          description: "The folder; each CSV or JSON file in it is a table."
        })
      ),
      port: Parameter.withDefault(
        Parameter.integer({
          name: "port",
          value: "PORT",
          description: "Listening port; 0 picks a free one. Default: 8740."
        }),
        8740
      ),
      attachmentPort: Parameter.withDefault(
        Parameter.integer({
          name: "attachment-port",
          value: "PORT",
          description: "The port that attachments come from; 0 picks a free one. Default: 0."
        }),
        0
      ),
      attachmentLinkLifetime: Parameter.withDefault(
        Parameter.parsed({
          name: "attachment-link-lifetime",
          value: "TIME",
          description:
            'How long the link to an attachment is good for, "10 seconds" for example. Default: 2 hours.',
          expected: 'a duration such as "10 seconds"',
          parse: Duration.decodeUnknown
        }),
        Duration.hours(2)
      ),
      host: Parameter.withDefault(
        Parameter.text({
          name: "host",
          value: "HOST",
          description: "Interface to bind. Default: 127.0.0.1."
        }),
        "127.0.0.1"
      ),
      token: Parameter.text({
        name: "token",
        value: "TOKEN",
        description: "The only access token that is accepted. Default: any."
      }),
      base: Parameter.text({
        name: "base",
        value: "ID",
        description: "The id of the only base there is. Default: any."
      }),
      noRateLimit: Parameter.flag({
        name: "no-rate-limit",
        description: "Answer any number of requests, unlike the hosted API."
      }),
      faults: Parameter.repeated({
        name: "fault",
        value: "FAULT",
        description: 'What goes wrong on purpose, "Objects 503 x2" for example; may be given many times.'
      })
    },
    run: ({ base, noRateLimit, token, ...options }) =>
      Layer.launch(
        server.layer({
          ...options,
          rateLimit: !noRateLimit,
          ...Option.match(token, { onNone: () => ({}), onSome: (token) => ({ token }) }),
          ...Option.match(base, { onNone: () => ({}), onSome: (baseId) => ({ baseId }) })
        })
      )
  })
