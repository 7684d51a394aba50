/**
 * The bus of events on a real NATS server passes what every implementation passes; the other services are in `test/programs`.
 */
import { describe } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { maxEvents } from "../../src/internal/keptEvents.ts"
import { EventBus } from "../../src/services/EventBus.ts"
import { eventBusContract } from "../../src/testing.ts"
import { startNatsServer } from "../support/natsServer.ts"
import { natsServices, sharedNatsServer } from "../support/natsServices.ts"
import { isMissing } from "../support/programs.ts"

/** A bus on its own server, which comes back without its store. */
const restartable = Effect.gen(function* () {
  const { emptyStore, signal, start, url } = yield* startNatsServer()
  const services = yield* Layer.build(natsServices({ servers: url, prefix: "restartable" }))
  const restart = Effect.all([signal("SIGKILL"), emptyStore, start], { discard: true })
  return { bus: Context.get(services, EventBus), restart }
})

describe.skipIf(isMissing("nats-server"))("on NATS", () => {
  const { instance, pairOf } = sharedNatsServer()

  eventBusContract("EventBusNats", instance, {
    capacity: maxEvents,
    pair: pairOf(EventBus),
    restartable
  })
})
