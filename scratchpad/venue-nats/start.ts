/**
 * One controller in three processes on NATS: content in one, event streams in two.
 *
 *     npm run build && npx jiti scratchpad/venue-nats/start.ts
 *
 * Then `curl -N http://127.0.0.1:8711/events`, the same on port 8712, and edit content/tables/Objects.csv. The server may be
 * killed (`kill -9`, with the number in brackets that its log begins with): it is started again after two seconds. Ports and
 * folders can be set in the environment.
 */
import { fileURLToPath } from "node:url"
import { Command } from "@effect/platform"
import { NodeContext, NodeRuntime } from "@effect/platform-node"
import { Data, Effect, Schedule } from "effect"

const { env } = process
const here = (name: string) => fileURLToPath(new URL(name, import.meta.url))
const dataFolder = env.DATA ?? here(".vitrine")

class Ended extends Data.TaggedError("Ended")<{ readonly message: string }> {}

/** Runs a program together with the others; if it ends, all end. */
const run = (
  name: string,
  [program, ...args]: readonly [string, ...Array<string>],
  more: Record<string, string> = {}
) =>
  Command.make(program, ...args).pipe(
    Command.env(more),
    Command.stdout("inherit"),
    Command.stderr("inherit"),
    Command.exitCode,
    Effect.flatMap((status) => new Ended({ message: `${name} has ended with exit status ${status}` }))
  )

const natsServer = run("nats-server", [
  "nats-server",
  ...["--addr", "127.0.0.1", "--port", env.NATS_PORT ?? "4222"],
  ...["--jetstream", "--store_dir", `${dataFolder}/nats`]
]).pipe(
  Effect.catchIf(
    (error) => error._tag === "SystemError" && error.reason === "NotFound",
    ({ message }) =>
      new Ended({
        message: `nats-server cannot be started. Debian has it (apt install nats-server), others find it at https://github.com/nats-io/nats-server/releases. ${message}`
      })
  ),
  // It was killed by a signal.
  Effect.retry({ while: ({ _tag }) => _tag === "SystemError", schedule: Schedule.spaced("2 seconds") })
)

/** A part of the controller, with a folder of its own for its socket. */
const part = (name: string, config: string, more: Record<string, string>) =>
  run(
    name,
    [
      process.execPath,
      here("../../dist/bin.cjs"),
      "start",
      ...["--config", here(`${config}/vitrine.config.ts`)],
      ...["--run-dir", `${dataFolder}/${name}`]
    ],
    more
  )

const parts = [
  natsServer,
  part("content", "content", { DOWNLOADS: env.DOWNLOADS ?? `${dataFolder}/downloads` }),
  part("screens-1", "screens", { TRANSPORT_PORT: env.SCREENS_1_PORT ?? "8711" }),
  part("screens-2", "screens", { TRANSPORT_PORT: env.SCREENS_2_PORT ?? "8712" })
]

Effect.all(parts, { concurrency: "unbounded", discard: true }).pipe(
  Effect.provide(NodeContext.layer),
  NodeRuntime.runMain
)
