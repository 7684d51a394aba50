import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FastCheck from "effect/FastCheck"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import { layer } from "../../../src/layers/controller/ControllerStateMemory.ts"
import { applyEvent, initial, makeSlice, withSources } from "../../../src/layers/fetching/contentState.ts"
import { ContentEvent } from "../../../src/services/ContentEvents.ts"
import { ControllerState, type PluginRegistration } from "../../../src/services/ControllerState.ts"

const timestamp = "2026-11-21T09:30:00.000Z"
const error = { name: "SourceError", message: "no network" }
const progress = {
  sourceId: "exhibits",
  document: "Objects",
  documents: { done: 0, total: 2 },
  records: 100,
  waiting: { reason: "penalty", until: "2026-11-21T09:30:30.000Z" }
} as const
const sourceDone = { timestamp, sourceId: "exhibits", records: 100, bytes: 2048, durationMs: 12 }

const stateOf = (...events: ReadonlyArray<ContentEvent>) =>
  events.reduce(applyEvent, withSources(["exhibits", "tours"])(initial))

describe("the state of a content plugin", () => {
  it("follows a source through its fetch", () => {
    expect(stateOf().sources.exhibits).toEqual({})
    const start: ContentEvent = {
      name: "content:source:start",
      payload: { timestamp, sourceId: "exhibits" }
    }
    expect(stateOf(start).sources).toEqual({
      exhibits: { fetchingSince: timestamp },
      tours: {}
    })
    const { sourceId, ...step } = progress
    const fetching: ContentEvent = { name: "content:source:progress", payload: progress }
    expect(stateOf(start, fetching).sources[sourceId]).toEqual({
      fetchingSince: timestamp,
      progress: step
    })
    expect(
      stateOf(start, fetching, { name: "content:source:done", payload: sourceDone }).sources[sourceId]
    ).toEqual({ lastSuccess: sourceDone })
  })

  it.scoped("is the newest in the state of the controller, if two sources report at the same time", () =>
    Effect.gen(function* () {
      const state = yield* ControllerState
      const held = yield* Deferred.make<void>()
      let wait = Deferred.await(held)
      const slice = yield* makeSlice("content").pipe(
        Effect.provideService(ControllerState, {
          ...state,
          register: <S>(plugin: PluginRegistration<S>) =>
            Effect.map(state.register(plugin), ({ update }) => ({
              update: (change: (slice: S | undefined) => S) => Effect.zipRight(wait, update(change))
            }))
        })
      )
      yield* slice.show({})
      const report = (sourceId: string) =>
        slice.update((before) =>
          applyEvent(before, { name: "content:source:start", payload: { timestamp, sourceId } })
        )
      const first = yield* Effect.fork(report("exhibits"))
      yield* Effect.yieldNow()
      wait = Effect.void
      yield* report("tours")
      yield* Deferred.succeed(held, undefined)
      yield* Fiber.join(first)
      expect((yield* state.state).plugins.content).toEqual(yield* slice.get)
    }).pipe(Effect.provide(layer("persistent")))
  )

  it("remembers the last error beside the last success", () => {
    expect(
      stateOf(
        { name: "content:source:error", payload: { timestamp, sourceId: "exhibits", error } },
        { name: "content:source:done", payload: sourceDone }
      ).sources.exhibits
    ).toEqual({
      lastSuccess: sourceDone,
      lastError: { timestamp, message: "no network" }
    })
  })

  it("shows no source as being fetched after a fetch has ended, even if it was interrupted", () => {
    const state = stateOf(
      { name: "content:source:progress", payload: progress },
      { name: "content:source:error", payload: { timestamp, sourceId: "tours", error } },
      { name: "content:fetch:error", payload: { timestamp, error } }
    )
    expect(state.lastFetch).toEqual({ timestamp, error })
    expect(state.sources).toEqual({
      exhibits: {},
      tours: { lastError: { timestamp, message: "no network" } }
    })
  })

  it.prop(
    "is the same for events that were encoded as JSON and decoded",
    [FastCheck.array(Arbitrary.make(ContentEvent), { maxLength: 20 })],
    ([events]) => {
      const decode = Schema.decodeUnknownSync(Schema.parseJson(ContentEvent))
      expect(stateOf(...events.map((event) => decode(JSON.stringify(event))))).toEqual(stateOf(...events))
    },
    { fastCheck: { numRuns: 50 } }
  )
})
