import { describe, expect, it } from "@effect/vitest"
import * as Array from "effect/Array"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { layer, make, maxRunning } from "../../../src/layers/memory/CommandBusMemory.ts"
import { commandBusContract } from "../../../src/testing.ts"

commandBusContract("CommandBusMemory", layer)

/** A command that runs in a plugin whose resources close with `scope`, and the log of both. */
const running = Effect.fnUntraced(function* (work: Effect.Effect<void>) {
  const log: Array<string> = []
  const say = (text: string) => Effect.sync(() => log.push(text))
  const { dispatch, register } = yield* make
  const scope = yield* Scope.make()
  yield* Scope.addFinalizer(scope, say("closed"))
  const begun = yield* Deferred.make<void>()
  const run = () =>
    Deferred.succeed(begun, undefined).pipe(
      Effect.zipRight(work),
      Effect.zipRight(say("done")),
      Effect.onInterrupt(() => say("interrupted"))
    )
  yield* Scope.extend(register({ type: "work", fields: Schema.Struct({}), run }), scope)
  const dispatched = yield* Effect.fork(Effect.either(dispatch({ type: "work" })))
  yield* Deferred.await(begun)
  return { close: Scope.close(scope, Exit.void), dispatched, log }
})

it.effect("refuses acks while 1,024 wait for a disk that hangs, and takes them again when it answers", () =>
  Effect.gen(function* () {
    const { dispatch, register } = yield* make
    const disk = yield* Deferred.make<void>()
    const fields = Schema.Struct({ consumerId: Schema.String })
    const kept: Array<string> = []
    yield* register({
      type: "ack",
      fields,
      run: ({ consumerId }) => Effect.andThen(Deferred.await(disk), () => void kept.push(consumerId))
    })
    yield* register({ type: "status", fields: Schema.Struct({}), run: () => Effect.succeed("OK") })
    const ack = (consumerId: number) => dispatch({ type: "ack", consumerId: `${consumerId}` })
    const waiting = yield* Effect.forEach(Array.range(1, maxRunning), (id) => Effect.fork(ack(id)))
    yield* Effect.repeatN(Effect.yieldNow(), 10)
    expect(yield* Effect.timeoutOption(Effect.either(ack(0)), 0)).toMatchObject({
      value: { left: { _tag: "vitrine/CommandUnavailable", reason: "busy", mayHaveRun: false } }
    })
    expect(yield* dispatch({ type: "status" })).toBe("OK")
    yield* Deferred.succeed(disk, undefined)
    yield* Fiber.joinAll(waiting)
    yield* ack(0)
    expect(kept).toEqual([...Array.range(1, maxRunning), 0].map(String))
  }).pipe(Effect.scoped)
)

describe("a command that runs when its plugin ends", () => {
  it.effect("ends before the resources of the plugin close", () =>
    Effect.gen(function* () {
      const end = yield* Deferred.make<void>()
      const { close, log } = yield* running(Deferred.await(end))
      const closing = yield* Effect.fork(close)
      yield* Effect.repeatN(Effect.yieldNow(), 100)
      expect(log).toEqual([])
      yield* Deferred.succeed(end, undefined)
      yield* Fiber.join(closing)
      expect(log).toEqual(["done", "closed"])
    })
  )

  it.effect("is interrupted before they close if it takes too long, and its caller is told", () =>
    Effect.gen(function* () {
      const { close, dispatched, log } = yield* running(Effect.never)
      yield* close
      expect(log).toEqual(["interrupted", "closed"])
      expect(yield* Fiber.join(dispatched)).toMatchObject({
        left: { _tag: "vitrine/CommandUnavailable", reason: "lost", mayHaveRun: true }
      })
    })
  )
})
