import { describe, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/TestClock"
import { errAsync, ok, okAsync, ResultAsync } from "neverthrow"
import { makeCommandBus, NoResult } from "../../../src/layers/plain/plainServices.ts"
import type { PlainContext } from "../../../src/plain.ts"
import { CommandFailed, CommandUnavailable } from "../../../src/services/CommandBus.ts"

type Dispatch = PlainContext["dispatchCommand"]

const dispatch = (dispatchCommand: Dispatch) =>
  makeCommandBus({ dispatchCommand }).dispatch({ type: "work", field: 1 })

/** What no compiler lets pass, and a plain controller does all the same. */
const asDispatch = (dispatch: unknown) => dispatch as Dispatch

const boom = new Error("the disk is full", { cause: new Error("quota") })

describe("CommandBusPlain", () => {
  it.effect("passes on the complete command, and returns its result", () =>
    Effect.gen(function* () {
      const result = yield* dispatch((command) => okAsync({ done: command }))
      expect(result).toEqual({ done: { type: "work", field: 1 } })
    })
  )

  it.effect.each<[string, Dispatch]>([
    ["is an err", () => errAsync(boom)],
    ["is rejected", () => ResultAsync.fromSafePromise(Promise.reject(boom))],
    [
      "throws",
      () => {
        throw boom
      }
    ]
  ])("fails with the original reason if the dispatch %s", ([, dispatchCommand]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(dispatch(dispatchCommand))
      expect(error).toBeInstanceOf(CommandFailed)
      expect(error.cause).toBe(boom)
      expect(error.message).toBe('The command "work" failed: the disk is full')
    })
  )

  it.effect.each<[string, unknown, string]>([
    ["nothing", undefined, "expected a promise, got undefined"],
    ["a plain value", 7, "expected a promise, got 7"],
    ["a result that is no promise", ok(7), "expected a promise, got an object"],
    ["a promise of nothing", Promise.resolve(), "expected a Result in the promise, got undefined"],
    [
      "a promise of something else",
      Promise.resolve({ ok: true }),
      "expected a Result in the promise, got an object"
    ],
    ["a promise of a text", Promise.resolve("done"), 'expected a Result in the promise, got "done"']
  ])("fails if the dispatch returns %s instead of a result", ([, returned, issue]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(dispatch(asDispatch(() => returned)))
      expect(error).toBeInstanceOf(CommandFailed)
      expect(error.cause).toBeInstanceOf(NoResult)
      expect(error.message).toBe(
        'The command "work" failed: "dispatchCommand" must return a ResultAsync of neverthrow, ' +
          `such as okAsync(value): ${issue}`
      )
    })
  )

  it.effect("can be interrupted while a command is running", () =>
    Effect.gen(function* () {
      const never = new ResultAsync<unknown, unknown>(new Promise(() => {}))
      const fiber = yield* Effect.fork(dispatch(() => never))
      yield* Effect.yieldNow()
      expect(Exit.isInterrupted(yield* Fiber.interrupt(fiber))).toBe(true)
    })
  )

  it.effect("waits for a command at most until the timeout", () =>
    Effect.gen(function* () {
      const never = new ResultAsync<unknown, unknown>(new Promise(() => {}))
      const bus = makeCommandBus({ dispatchCommand: () => never })
      const fiber = yield* Effect.fork(Effect.flip(bus.dispatch({ type: "work" }, { timeout: "30 seconds" })))
      yield* TestClock.adjust("29 seconds")
      expect(yield* Fiber.poll(fiber)).toEqual(Option.none())
      yield* TestClock.adjust("1 second")
      expect(yield* Fiber.join(fiber)).toEqual(
        new CommandUnavailable({ type: "work", reason: "timeout", mayHaveRun: true })
      )
    })
  )

  it.effect("registers no commands: they belong to the plain controller", () =>
    Effect.gen(function* () {
      const bus = makeCommandBus({ dispatchCommand: () => okAsync(1) })
      const exit = yield* bus
        .register({ type: "a", fields: Schema.Struct({}), run: () => Effect.void })
        .pipe(Effect.scoped, Effect.exit)
      expect(Exit.isFailure(exit) && Cause.pretty(exit.cause)).toContain('The command "a" must be registered')
      expect(yield* bus.types).toEqual([])
    })
  )
})
