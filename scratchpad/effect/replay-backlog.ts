/**
 * Your own replay backlog behind the transport: it has events from before the start of the program.
 *
 *     npm run build && npx jiti scratchpad/effect/replay-backlog.ts
 */
import { Console, Effect, Layer, Option, Stream } from "effect"
import * as Vitrine from "vitrine"

const kept = new Map([["greeting", { name: "greeting", data: '"Welcome back"', sequence: 0 }]])
const backlog = Layer.succeed(Vitrine.ReplayBacklog.ReplayBacklog, {
  remember: (event) => Effect.sync(() => kept.set(event.name, event)),
  snapshot: Effect.sync(() => [...kept.values()])
})
const services = Layer.mergeAll(
  Vitrine.EventBusMemory.layer,
  Vitrine.CommandBusMemory.layer,
  Vitrine.ControllerStateMemory.layer("persistent")
)
const transport = Vitrine.HttpTransport.layer({ port: 0, events: ["greeting"], replayEvents: ["greeting"] })

const program = Effect.gen(function* () {
  const { port } = Option.getOrThrow((yield* Vitrine.HttpTransport.HttpTransport).address)
  const { body } = yield* Effect.promise(() => fetch(`http://127.0.0.1:${port}/events`))
  yield* Stream.fromReadableStream(() => body ?? new ReadableStream(), String).pipe(
    Stream.decodeText(),
    Stream.takeUntil((text) => text.includes("data: ")),
    Stream.runForEach(Console.log)
  )
})
await program.pipe(Effect.provide(Layer.provide(transport, [backlog, services])), Effect.runPromise)
