import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import { withPlainLogger } from "../../../src/layers/plain/plainLogger.ts"
import { makeControllerState } from "../../../src/layers/plain/plainServices.ts"
import { makePlainController } from "../../support/plainController.ts"
import { eventLoopTurn } from "../../support/waiting.ts"

describe("ControllerStatePlain", () => {
  it.scoped("returns the status and the state of the controller", () =>
    Effect.gen(function* () {
      const { contextOf, state } = makePlainController("task")
      const context = contextOf("http-transport")
      const plain = makeControllerState(context)
      expect(plain.mode).toBe("task")
      expect(yield* plain.status).toEqual(context.getStatusSnapshot())
      expect(yield* plain.state).toBe(state())
      yield* plain.register({ name: "whatever", slice: { url: "u" }, report: () => ({}) })
      expect(yield* plain.state).toMatchObject({ plugins: { "http-transport": { url: "u" } }, _version: 1 })
    })
  )

  it.scoped("writes live fields every ten seconds if they have changed", () =>
    Effect.gen(function* () {
      const { contextOf, state } = makePlainController()
      const { register } = makeControllerState(contextOf("http-transport"))
      let slice: object = { eventsForwarded: 0 }
      yield* register({ name: "whatever", live: Effect.sync(() => slice) })
      yield* TestClock.adjust("1 minute")
      expect(state()._version).toBe(0)
      slice = { eventsForwarded: 3, problem: { reason: "no events" } }
      yield* TestClock.adjust("1 minute")
      expect(state()).toMatchObject({ plugins: { "http-transport": slice }, _version: 1 })
      slice = { eventsForwarded: 3 }
      yield* TestClock.adjust("1 minute")
      expect(state().plugins["http-transport"]).toEqual(slice)
    })
  )

  it.effect("reads them again each time", () =>
    Effect.gen(function* () {
      let uptimeMs = 0
      const context = makePlainController().contextOf("test")
      const snapshot = context.getStatusSnapshot()
      const { status } = makeControllerState({
        ...context,
        getStatusSnapshot: () => ({ ...snapshot, header: { ...snapshot.header, uptimeMs: ++uptimeMs } })
      })
      yield* status
      expect((yield* status).header.uptimeMs).toBe(2)
    })
  )

  /** What becomes of a slice in a controller that keeps what the producer returns, and in one that keeps the draft. */
  const slices = (slice: unknown) =>
    Effect.gen(function* () {
      let returned: unknown
      const { register } = makeControllerState({
        ...makePlainController().contextOf("test"),
        updateState: (producer) => {
          returned = producer(slice)
        }
      })
      yield* register({ name: "test", slice: { url: "new" } })
      return { returned, slice }
    }).pipe(Effect.scoped)

  it.effect("changes a draft in place, without the fields that are gone, and returns it", () =>
    Effect.gen(function* () {
      const { returned, slice } = yield* slices({ url: "old", problem: { reason: "no events" } })
      expect(returned).toBe(slice)
      expect(slice).toEqual({ url: "new" })
    })
  )

  it.effect.each([undefined, null, 7, Object.freeze({ url: "old" })])("returns a new slice for %o", (slice) =>
    Effect.gen(function* () {
      const { returned } = yield* slices(slice)
      expect(returned).toEqual({ url: "new" })
    })
  )

  it.effect("does not wait for the promise of an update, and warns if it is rejected", () =>
    Effect.gen(function* () {
      const { contextOf, lines } = makePlainController()
      const context = contextOf("test")
      const update = (updating: Promise<void>) =>
        makeControllerState({ ...context, updateState: () => updating })
          .register({ name: "test", slice: {} })
          .pipe(withPlainLogger(context), Effect.scoped)
      yield* update(new Promise(() => {}))
      yield* update(Promise.reject(new Error("no")))
      yield* eventLoopTurn
      expect(lines[0]).toBe("WARN The state could not be updated: no")
    })
  )
})
