import { describe, expect, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as AwaitedFibers from "../../../src/layers/http/AwaitedFibers.ts"

/** A program in whose scope the work is waited for: as under `NodeRuntime.runMain`, its own fiber is interrupted. */
const programWith = Effect.fnUntraced(function* (work: Effect.Effect<unknown>) {
  const begun = yield* Deferred.make<void>()
  const program = yield* Effect.gen(function* () {
    const awaitEnd = yield* AwaitedFibers.make
    awaitEnd(yield* Effect.forkDaemon(Effect.zipRight(Deferred.succeed(begun, undefined), work)))
    return yield* Effect.never
  }).pipe(Effect.scoped, Effect.fork)
  yield* Deferred.await(begun)
  return program
})

describe("work in flight when its program is interrupted", () => {
  it.live("is finished before the program ends", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const say = (text: string) => Effect.sync(() => said.push(text))
      const release = yield* Deferred.make<void>()
      const program = yield* programWith(Effect.zipRight(Deferred.await(release), say("finished")))
      const end = yield* Effect.fork(Effect.zipRight(Fiber.interrupt(program), say("ended")))
      yield* Effect.repeatN(Effect.yieldNow(), 100)
      expect(said).toEqual([])
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(end)
      expect(said).toEqual(["finished", "ended"])
    })
  )

  it.live("is interrupted with its finalizers if it takes too long", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const say = (text: string) => Effect.sync(() => said.push(text))
      const program = yield* programWith(Effect.onInterrupt(Effect.never, () => say("interrupted")))
      yield* Fiber.interrupt(program)
      expect(said).toEqual(["interrupted"])
    })
  )
})
