/**
 * Instances of the services on NATS, as tests of their faults use them: what they publish, and what their feeds deliver.
 */
import { expect } from "@effect/vitest"
import { type JetStreamClient, jetstream, jetstreamManager, type StreamAPI } from "@nats-io/jetstream"
import { connect } from "@nats-io/transport-node"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as ControllerStateMemory from "../../src/layers/controller/ControllerStateMemory.ts"
import * as nats from "../../src/nats.ts"
import { CommandBus } from "../../src/services/CommandBus.ts"
import { ControllerState } from "../../src/services/ControllerState.ts"
import { type BusEvent, EventBus } from "../../src/services/EventBus.ts"
import { ReplayBacklog } from "../../src/services/ReplayBacklog.ts"
import { withLog } from "./logged.ts"

const logAll =
  (log: Array<string>) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Logger.withMinimumLogLevel(withLog(log)(effect), LogLevel.All)

/** The services of one instance, and what it logs at any level. */
export const startInstance = (config: nats.NatsConfig) =>
  Effect.gen(function* () {
    const log: Array<string> = []
    const services = yield* logAll(log)(
      Layer.build(
        Layer.fresh(Layer.provideMerge(nats.services(config), ControllerStateMemory.layer("persistent")))
      )
    )
    const controller = Context.get(services, ControllerState)
    const section = Effect.map(controller.status, ({ sections }) => sections[0])
    return {
      log,
      /** The section of the status, as text. */
      status: Effect.map(section, (section) => JSON.stringify(section)),
      /** The state, and the view that is made of it. */
      snapshot: controller.read,
      /** The slice of the state. */
      slice: Effect.map(controller.state, ({ plugins }) => plugins.nats),
      events: Context.get(services, EventBus),
      backlog: Context.get(services, ReplayBacklog),
      commands: Context.get(services, CommandBus)
    }
  })

/** What an operator does to the streams of the server, on a separate connection. */
export const administer = (servers: string, act: (server: Administered) => Promise<unknown>) =>
  Effect.promise(async () => {
    const connection = await connect({ servers })
    await act({ streams: (await jetstreamManager(connection)).streams, jetStream: jetstream(connection) })
    await connection.close()
  })

export interface Administered {
  readonly streams: StreamAPI
  readonly jetStream: JetStreamClient
}

/** Tries again until it succeeds. */
export const insist = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.retry(effect, Schedule.spaced("50 millis"))

/** Looks every 10 ms: at each turn of the event loop, it would take the processor from the servers that it waits for. */
export const until = (condition: () => boolean) =>
  Effect.repeat(Effect.sleep("10 millis"), { until: condition })

/** Everything that a feed delivers, and the end of the feed. */
export const collect = (bus: typeof EventBus.Service) =>
  Effect.gen(function* () {
    const seen: Array<BusEvent> = []
    const feed = yield* bus.subscribe
    const fiber = yield* Effect.forkScoped(
      Effect.exit(Stream.runForEach(feed, (event) => Effect.sync(() => seen.push(event))))
    )
    /** Waits for the last of the numbers that somebody publishes; fails at once if the feed ends before. */
    const last = Effect.raceFirst(
      until(() => seen.at(-1)?.name === lastNumber),
      Effect.flatMap(Fiber.join(fiber), (exit) => Effect.dieMessage(`The feed has ended: ${exit}`))
    )
    return { seen, fiber, last }
  })

/** The name of the event behind all numbers. */
const lastNumber = "last"

/** Publishes numbers until `end`, and keeps those that the bus has accepted. */
export const publishNumbers = (bus: typeof EventBus.Service) =>
  Effect.gen(function* () {
    const accepted: Array<number> = []
    const publishing = yield* Effect.gen(function* () {
      for (let number = 0; ; number++) {
        const exit = yield* Effect.exit(bus.publish(`name ${number % 3}`, number))
        if (Exit.isSuccess(exit)) {
          accepted.push(number)
        } else {
          yield* Effect.sleep("20 millis")
        }
      }
    }).pipe(Effect.forkScoped)
    return {
      accepted,
      /** Waits until so many more are accepted. */
      more: (count: number) =>
        Effect.suspend(() => {
          const before = accepted.length
          return until(() => accepted.length >= before + count)
        }),
      end: Effect.zipRight(Fiber.interrupt(publishing), bus.publish(lastNumber, -1))
    }
  })

/** No gap, nothing twice, and nothing missing that was accepted. */
export const expectExact = (seen: ReadonlyArray<BusEvent>, accepted: ReadonlyArray<number>) => {
  const first = seen[0]?.sequence ?? 0
  expect(seen.map(({ sequence }) => sequence)).toEqual(seen.map((_, index) => first + index))
  const payloads = new Set(seen.map(({ payload }) => payload))
  expect(payloads.size).toBe(seen.length)
  expect(accepted.filter((number) => !payloads.has(number))).toEqual([])
}

/** How often a bus has said that its engine was emptied. */
export const countEmptied = ({ emptied }: typeof EventBus.Service) =>
  Effect.gen(function* () {
    let times = 0
    yield* Effect.forkScoped(Stream.runForEach(emptied, () => Effect.sync(() => times++)))
    return () => times
  })

export const greet = {
  type: "greet",
  fields: Schema.Struct({ name: Schema.String }),
  run: ({ name }: { readonly name: string }) => Effect.succeed(`Hello ${name}`)
}
