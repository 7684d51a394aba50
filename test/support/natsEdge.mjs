/**
 * One process of a controller in several, of the built package: `node natsEdge.mjs SERVERS ROLE`. Prefix is `vitrine`.
 *
 * - `transport`: event streams of its own, with both events replayed. It says `port NUMBER`.
 * - `publisher`: publishes `counter` again and again, counting from 0, and a `milestone` after every fiftieth. It says
 *   `publishing`; when its standard input ends, it says `last NUMBER`, and ends.
 * - `command`: registers `greet`. It says `registered`.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as ControllerStateMemory from "../../dist/layers/controller/ControllerStateMemory.js"
import * as HttpTransport from "../../dist/layers/httpTransport/HttpTransport.js"
import * as nats from "../../dist/nats.js"
import { CommandBus } from "../../dist/services/CommandBus.js"
import { EventBus } from "../../dist/services/EventBus.js"

const [servers = "", role = ""] = process.argv.slice(2)
const say = (line) => Effect.sync(() => process.stdout.write(`${line}\n`))

/** In milliseconds. */
const interval = 20

const roles = {
  transport: Effect.gen(function* () {
    const { address } = yield* HttpTransport.make({
      port: 0,
      events: ["*"],
      replayEvents: ["counter", "milestone"],
      maxClients: 2000
    })
    yield* say(`port ${Option.getOrThrow(address).port}`)
    yield* Effect.never
  }),
  publisher: Effect.gen(function* () {
    const { publish } = yield* EventBus
    let isWanted = true
    process.stdin.on("end", () => {
      isWanted = false
    })
    process.stdin.resume()
    const publishCount = (count) =>
      count % 50 === 0
        ? Effect.zipRight(publish("counter", count), publish("milestone", count / 50))
        : publish("counter", count)
    yield* publishCount(0)
    yield* say("publishing")
    let count = 0
    while (isWanted) {
      yield* Effect.sleep(interval)
      yield* publishCount(++count)
    }
    yield* say(`last ${count}`)
  }),
  command: Effect.gen(function* () {
    const { register } = yield* CommandBus
    yield* register({ type: "greet", fields: Schema.Struct({}), run: () => Effect.succeed(process.pid) })
    yield* say("registered")
    yield* Effect.never
  })
}

await roles[role].pipe(
  Effect.scoped,
  Effect.provide(Layer.merge(nats.services({ servers }), ControllerStateMemory.layer("persistent"))),
  Effect.runPromise
)
process.exit()
