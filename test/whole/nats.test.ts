/**
 * The services on a real NATS server pass what every implementation passes.
 */
import { describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { maxEvents } from "../../src/internal/eventRing.ts"
import { CommandBus } from "../../src/services/CommandBus.ts"
import { EventBus } from "../../src/services/EventBus.ts"
import { ReplayBacklog } from "../../src/services/ReplayBacklog.ts"
import { commandBusContract, eventBusContract, replayBacklogContract } from "../../src/testing.ts"
import { startNatsServer } from "../support/natsServer.ts"
import { natsServices, sharedNatsServer } from "../support/natsServices.ts"
import { isMissing } from "../support/programs.ts"

/** A bus on a server of its own, which comes back without its store. */
const restartable = Effect.gen(function* () {
  const { emptyStore, signal, start, url } = yield* startNatsServer()
  const services = yield* Layer.build(natsServices({ servers: url, prefix: "restartable" }))
  const restart = Effect.all([signal("SIGKILL"), emptyStore, start], { discard: true })
  return { bus: Context.get(services, EventBus), restart }
})

describe.skipIf(isMissing("nats-server"))("on NATS", () => {
  const { instance, losable, pairOf } = sharedNatsServer()

  eventBusContract("EventBusNats", instance, {
    capacity: maxEvents,
    pair: pairOf(EventBus),
    restartable
  })
  replayBacklogContract("ReplayBacklogNats", instance, { pair: pairOf(ReplayBacklog), runs: 20 })
  commandBusContract("CommandBusNats", instance, { pair: pairOf(CommandBus), losable, timeout: "1 second" })

  it.scopedLive("CommandBusNats interrupts a handler of another instance with whoever dispatched it", () =>
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
