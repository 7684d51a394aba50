import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import * as Scope from "effect/Scope"
import { layer, make } from "../../../src/layers/memory/CommandBusMemory.ts"
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
