/**
 * The services on a real NATS server pass what every implementation passes.
 */
import { describe } from "@effect/vitest"
import * as EventBusMemory from "../../src/layers/memory/EventBusMemory.ts"
import { CommandBus } from "../../src/services/CommandBus.ts"
import { EventBus } from "../../src/services/EventBus.ts"
import { ReplayBacklog } from "../../src/services/ReplayBacklog.ts"
import { commandBusContract, eventBusContract, replayBacklogContract } from "../../src/testing.ts"
import { sharedNatsServer } from "../support/natsServices.ts"
import { isMissing } from "../support/programs.ts"

describe.skipIf(isMissing("nats-server"))("on NATS", () => {
  const { instance, losable, pairOf } = sharedNatsServer()

  eventBusContract("EventBusNats", instance, {
    capacity: EventBusMemory.subscriberCapacity,
    pair: pairOf(EventBus)
  })
  replayBacklogContract("ReplayBacklogNats", instance, { pair: pairOf(ReplayBacklog), runs: 20 })
  commandBusContract("CommandBusNats", instance, { pair: pairOf(CommandBus), losable, timeout: "1 second" })
})
