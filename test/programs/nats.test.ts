/**
 * Commands and the backlog on a real NATS server pass what every implementation passes.
 */
import { describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Schema from "effect/Schema"
import { CommandBus } from "../../src/services/CommandBus.ts"
import { ReplayBacklog } from "../../src/services/ReplayBacklog.ts"
import { commandBusContract, replayBacklogContract } from "../../src/testing.ts"
import { sharedNatsServer } from "../support/natsServices.ts"
import { isMissing } from "../support/programs.ts"

describe.skipIf(isMissing("nats-server"))("on NATS", () => {
  const { instance, losable, pairOf } = sharedNatsServer()

  replayBacklogContract("ReplayBacklogNats", instance, { pair: pairOf(ReplayBacklog), runs: 8 })
  commandBusContract("CommandBusNats", instance, { pair: pairOf(CommandBus), losable, timeout: "1 second" })

  it.scopedLive("CommandBusNats interrupts a handler in another process when its caller is interrupted", () =>
    Effect.gen(function* () {
      const [one, other] = yield* pairOf(CommandBus)
      const started = yield* Deferred.make<void>()
      const interrupted = yield* Deferred.make<void>()
      yield* one.register({
        type: "work",
        fields: Schema.Struct({}),
        run: () =>
          Deferred.succeed(started, undefined).pipe(
            Effect.zipRight(Effect.never),
            Effect.onInterrupt(() => Deferred.succeed(interrupted, undefined))
          )
      })
      const dispatched = yield* Effect.fork(other.dispatch({ type: "work" }))
      yield* Deferred.await(started)
      yield* Fiber.interrupt(dispatched)
      yield* Deferred.await(interrupted)
    })
  )
})
