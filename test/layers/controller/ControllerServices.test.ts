import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { describe, expect, expectTypeOf, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import { content, defineConfig, httpTransport } from "../../../src/index.ts"
import * as ControllerServices from "../../../src/layers/controller/ControllerServices.ts"
import * as ControllerStateMemory from "../../../src/layers/controller/ControllerStateMemory.ts"
import * as EventBusMemory from "../../../src/layers/memory/EventBusMemory.ts"
import * as RequestPacingMemory from "../../../src/layers/memory/RequestPacingMemory.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { EventBus } from "../../../src/services/EventBus.ts"
import { RequestPacing } from "../../../src/services/RequestPacing.ts"
import { saysWith } from "../../support/says.ts"

const platform = Layer.merge(NodeContext.layer, NodeHttpClient.layer)

const sky = { id: "sky", fetch: () => Effect.succeed({ fingerprint: "full", records: 1, bytes: 0 }) }

/** A bus that nobody can subscribe to. It keeps the names of published events. */
const makeRecordingBus = () => {
  const published: Array<string> = []
  const bus = EventBus.of({
    publish: (name) => Effect.sync(() => void published.push(name)),
    subscribe: Effect.succeed(Stream.empty),
    emptied: Stream.empty
  })
  return { published, layer: Layer.succeed(EventBus, bus) }
}

describe("the type of the services of a configuration", () => {
  const { layer } = makeRecordingBus()
  const state = ControllerStateMemory.layer("persistent")

  it("accepts a layer of one or several services", () => {
    defineConfig({ plugins: [], services: layer })
    defineConfig({ plugins: [], services: Layer.mergeAll(layer, state, RequestPacingMemory.layer) })
  })

  it("rejects a layer without any of them, or with unknown requirements", () => {
    // @ts-expect-error: none of the services
    defineConfig({ plugins: [], services: RequestPacingMemory.layer })
    // @ts-expect-error: none at all
    defineConfig({ plugins: [], services: Layer.empty })
    const needy = Layer.effect(EventBus, Effect.zipRight(RequestPacing, EventBus))
    // @ts-expect-error: no RequestPacing
    defineConfig({ plugins: [], services: needy })
  })
})

describe("the type of the services of a program", () => {
  it("rejects a layer without any service of a controller", () => {
    // @ts-expect-error: none of the services
    ControllerServices.layer("persistent", RequestPacingMemory.layer)
  })

  it("says what a layer with some of the services requires", () => {
    const { layer } = makeRecordingBus()
    const both = ControllerServices.layer("persistent", Layer.merge(layer, RequestPacingMemory.layer))
    expectTypeOf<Layer.Layer.Context<typeof both>>().toEqualTypeOf<never>()
    const needy = Layer.effect(EventBus, Effect.zipRight(RequestPacing, EventBus))
    const services = ControllerServices.layer("persistent", needy)
    expectTypeOf<Layer.Layer.Context<typeof services>>().toEqualTypeOf<RequestPacing>()
  })
})

describe("the services of a configuration", () => {
  it.scoped("receive every event of the controller", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      const file = `${folder}/vitrine.config.mjs`
      yield* fs.writeFileString(
        file,
        'import { plugins, services } from "vitrine"\nexport default { plugins, services }'
      )
      const { layer, published } = makeRecordingBus()
      const source = { id: sky.id, issues: [], make: Effect.succeed(sky) }
      const library = { plugins: [content({ sources: [source] }), httpTransport()], services: layer }
      yield* saysWith(library)("fetch", "--config", file)
      expect(published).toEqual([
        "content:fetch:start",
        "content:source:start",
        "content:source:done",
        "content:version:promoted",
        "content:fetch:done"
      ])
    }).pipe(Effect.provide(platform))
  )

  it.effect("can use the services in memory", () =>
    Effect.gen(function* () {
      const renamed = Layer.effect(
        EventBus,
        Effect.map(EventBus, (bus) => ({
          ...bus,
          publish: (name: string, payload: unknown) => bus.publish(`hall:${name}`, payload)
        }))
      )
      const program = Effect.gen(function* () {
        const { publish, subscribe } = yield* EventBus
        const events = yield* subscribe
        yield* publish("lamp:on", 1)
        return yield* Stream.runHead(events)
      }).pipe(Effect.scoped, Effect.provide(ControllerServices.layer("task", renamed)))
      expect(yield* Effect.flatten(program)).toMatchObject({ name: "hall:lamp:on" })
    }).pipe(Effect.provide(platform))
  )

  for (const [what, failing] of [
    ["fail", Layer.fail(new Error("The broker is not there."))],
    ["die", Layer.die(new Error("The broker is not there."))]
  ] as const) {
    it.effect(`are reported when they ${what}`, () =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(Layer.build(ControllerServices.layer("task", failing)))
        expect(error.message).toBe('The "services" could not be provided. The broker is not there.')
      }).pipe(Effect.scoped, Effect.provide(platform))
    )
  }

  it.effect("are rejected when their state has another mode than the controller", () =>
    Effect.gen(function* () {
      const custom = ControllerStateMemory.layer("persistent")
      expect((yield* Effect.flip(Layer.build(ControllerServices.layer("task", custom)))).message).toBe(
        'The "services" could not be provided. The mode of the ControllerState is "persistent", and must be "task".'
      )
      const services = ControllerServices.layer("persistent", Layer.merge(custom, EventBusMemory.layer))
      expect(yield* Effect.provide(ControllerState, services)).toMatchObject({ mode: "persistent" })
    }).pipe(Effect.scoped, Effect.provide(platform))
  )
})
