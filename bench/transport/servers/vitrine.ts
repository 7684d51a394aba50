/**
 * The transport of the built package over the services of one process, or over those on NATS.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Schema from "effect/Schema"
import * as Vitrine from "vitrine"
import { publishByFiber } from "./publishByFiber.ts"
import { serve } from "./serve.ts"

const command = {
  type: "bench.echo",
  fields: Schema.Struct({ id: Schema.Number }),
  run: Effect.succeed<{ readonly id: number }>
}

const Slice = Schema.Struct({ "http-transport": Schema.Struct({ url: Schema.String }) })

const inMemory = Layer.mergeAll(
  Vitrine.EventBusMemory.layer,
  Vitrine.CommandBusMemory.layer,
  Vitrine.ReplayBacklogMemory.layer
)

serve(async ({ keepAliveMs, nats }) => {
  const services = Layer.provideMerge(
    nats === undefined ? inMemory : (await import("vitrine/nats")).services({ servers: nats }),
    Vitrine.ControllerStateMemory.layer("persistent")
  )
  const transport = Vitrine.HttpTransport.layer({
    port: 0,
    maxClients: 100_000,
    allowedCommands: [command.type],
    keepAliveMs
  })
  const commands = Layer.scopedDiscard(
    nats === undefined
      ? Effect.flatMap(Vitrine.CommandBus.CommandBus, ({ register }) => register(command))
      : Effect.void
  )
  const runtime = ManagedRuntime.make(Layer.provideMerge(Layer.merge(transport, commands), services))

  const bus = await runtime.runPromise(Vitrine.EventBus.EventBus)
  const { state } = await runtime.runPromise(Vitrine.ControllerState.ControllerState)
  const slices = Schema.decodeUnknownSync(Slice)((await runtime.runPromise(state)).plugins)
  return {
    port: Number(new URL(slices["http-transport"].url).port),
    publish: (name, payload) => runtime.runPromise(bus.publish(name, payload)),
    publishAll: publishByFiber(bus.publish)
  }
})
