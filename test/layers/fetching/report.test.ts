import { expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Stream from "effect/Stream"
import { initial, makeReport } from "../../../src/layers/fetching/contentState.ts"
import type { ContentEvent } from "../../../src/services/ContentEvents.ts"
import { EventBus, EventBusError } from "../../../src/services/EventBus.ts"
import { withLog } from "../../support/logged.ts"

const promoted: ContentEvent = {
  name: "content:version:promoted",
  payload: { versionId: "2", versionPath: "versions/2", generatedAt: "2026-01-01T00:00:00.000Z" }
}
const newer: ContentEvent = { ...promoted, payload: { ...promoted.payload, versionId: "3" } }
const started: ContentEvent = {
  name: "content:fetch:start",
  payload: { timestamp: "2026-01-01T00:00:00.000Z" }
}

/** A report to a bus whose `publish` can be changed, and the published events. */
const makeBus = Effect.gen(function* () {
  const published: Array<unknown> = []
  const bus = { publish: (_: unknown): Effect.Effect<void, EventBusError> => Effect.void, published }
  const report = yield* makeReport("tours", {
    get: Effect.succeed(initial),
    note: () => Effect.void,
    show: () => Effect.void,
    update: () => Effect.void
  }).pipe(
    Effect.provideService(EventBus, {
      publish: (name, payload) =>
        Effect.map(
          Effect.suspend(() => bus.publish(payload)),
          () => void published.push(payload === newer.payload ? "newer" : name)
        ),
      subscribe: Effect.never,
      emptied: Stream.empty
    })
  )
  return { bus, report }
})

const fails = Effect.fail(new EventBusError({ action: "publish", detail: "no engine" }))

it.effect("a failing bus is logged once, and the version is announced when it works again", () =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const { bus, report } = yield* makeBus
    yield* Effect.gen(function* () {
      yield* report(started)
      bus.publish = () => fails
      yield* report(promoted)
      bus.publish = () => Effect.die(new Error("a defect"))
      yield* report(started)
      bus.publish = () => Effect.void
      yield* report(started)
      yield* report(started)
    }).pipe(withLog(lines))
    expect(bus.published).toEqual([
      "tours:fetch:start",
      "tours:fetch:start",
      "tours:version:promoted",
      "tours:fetch:start"
    ])
    expect(lines).toEqual([
      "WARN The event bus could not publish an event: no engine. Clients learn of new versions from the manifest only, until it works again."
    ])
  })
)

it.effect("a version that is announced again is never announced after a newer version", () =>
  Effect.gen(function* () {
    const { bus, report } = yield* makeBus
    bus.publish = () => fails
    yield* report(promoted)
    const held = yield* Deferred.make<void>()
    bus.publish = (payload) => (payload === promoted.payload ? Deferred.await(held) : Effect.void)
    const again = yield* Effect.fork(report(started))
    yield* Effect.yieldNow()
    const next = yield* Effect.fork(report(newer))
    yield* Effect.yieldNow()
    yield* Deferred.succeed(held, undefined)
    yield* Fiber.joinAll([again, next])
    yield* report(started)
    expect(bus.published).toEqual([
      "tours:fetch:start",
      "tours:version:promoted",
      "newer",
      "tours:fetch:start"
    ])
  })
)

it.effect("a version is announced by the next report, if the announcement before is interrupted", () =>
  Effect.gen(function* () {
    const { bus, report } = yield* makeBus
    bus.publish = () => fails
    yield* report(promoted)
    bus.publish = (payload) => (payload === promoted.payload ? Effect.never : Effect.void)
    const again = yield* Effect.fork(report(started))
    yield* Effect.yieldNow()
    yield* Fiber.interrupt(again)
    bus.publish = () => Effect.void
    yield* report(started)
    expect(bus.published).toEqual(["tours:fetch:start", "tours:fetch:start", "tours:version:promoted"])
  })
)
