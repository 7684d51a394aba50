/**
 * The suites of `vitrine/testing` are fair: whatever they subscribe to or register has ended when the layer does.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { maxEvents } from "../src/internal/eventRing.ts"
import * as CommandBusMemory from "../src/layers/memory/CommandBusMemory.ts"
import * as EventBusMemory from "../src/layers/memory/EventBusMemory.ts"
import * as TableSourceClientMemory from "../src/layers/sources/tableSource/TableSourceClientMemory.ts"
import { CommandBus, InvalidCommandFields } from "../src/services/CommandBus.ts"
import { EventBus } from "../src/services/EventBus.ts"
import { TableError, TableSourceClient } from "../src/services/TableSourceClient.ts"
import {
  commandBusContract,
  eventBusContract,
  eventBusWrapperContract,
  tableSourceClientContract
} from "../src/testing.ts"
import * as commandEngine from "./support/commandEngine.ts"
import * as eventEngine from "./support/eventEngine.ts"

/** What is acquired with this must be released when the scope ends: that dies otherwise. */
const makeWatch = Effect.gen(function* () {
  let open = 0
  yield* Effect.addFinalizer(() =>
    open === 0 ? Effect.void : Effect.dieMessage(`The layer ends before ${open} that use it.`)
  )
  return <A, E, R>(acquire: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Scope.Scope> =>
    Effect.zipRight(
      Effect.acquireRelease(
        Effect.sync(() => open++),
        () => Effect.sync(() => open--)
      ),
      acquire
    )
})

eventBusContract(
  "A bus with a connection",
  Layer.scoped(
    EventBus,
    Effect.gen(function* () {
      const watch = yield* makeWatch
      const bus = yield* EventBusMemory.make
      return EventBus.of({ ...bus, subscribe: watch(bus.subscribe) })
    })
  ),
  { capacity: maxEvents }
)

/** Two buses of one engine. */
const eventEnginePair = Effect.sync(() => {
  const engine = eventEngine.make()
  return { engine, one: engine.instance().bus, other: engine.instance().bus }
})

eventBusContract(
  "A bus of an engine",
  Layer.effect(
    EventBus,
    Effect.map(eventEnginePair, ({ one }) => one)
  ),
  {
    pair: Effect.map(eventEnginePair, ({ one, other }) => [one, other] as const),
    restartable: Effect.map(eventEnginePair, ({ engine, one }) => ({
      bus: one,
      restart: Effect.sync(engine.beginAnew)
    }))
  }
)

eventBusWrapperContract(
  "A bus that logs",
  Layer.effect(
    EventBus,
    Effect.map(EventBus, (bus) => ({
      ...bus,
      publish: (name: string, payload: unknown) =>
        Effect.zipRight(Effect.logDebug(name), bus.publish(name, payload))
    }))
  )
)

eventBusWrapperContract(
  "A bus that keeps payloads back",
  Layer.effect(
    EventBus,
    Effect.map(EventBus, (bus) => ({
      ...bus,
      subscribe: Effect.map(
        bus.subscribe,
        Stream.map((event) => ({ ...event, payload: null }))
      )
    }))
  )
)

commandBusContract(
  "A bus with a connection",
  Layer.scoped(
    CommandBus,
    Effect.gen(function* () {
      const watch = yield* makeWatch
      const commands = yield* CommandBusMemory.make
      return CommandBus.of({ ...commands, register: (handler) => watch(commands.register(handler)) })
    })
  )
)

commandBusContract(
  "A bus with words of its own",
  Layer.effect(
    CommandBus,
    Effect.map(CommandBusMemory.make, (bus) => ({
      ...bus,
      dispatch: (command, options) =>
        Effect.catchTag(
          bus.dispatch(command, options),
          "vitrine/InvalidCommandFields",
          ({ issues, type }) => {
            const names = issues.match(/\w+(?=[:[])/g) ?? []
            return new InvalidCommandFields({ type, issues: `check ${names.join(" and ")}` })
          }
        )
    }))
  )
)

const enginePair = Effect.flatMap(commandEngine.startEngine, (port) =>
  Effect.all([commandEngine.makeBus(port), commandEngine.makeBus(port)])
)

commandBusContract(
  "A bus over a socket",
  Layer.scoped(
    CommandBus,
    Effect.flatMap(commandEngine.startEngine, (port) =>
      Effect.map(commandEngine.makeBus(port), ({ bus }) => bus)
    )
  ),
  {
    pair: Effect.map(enginePair, ([one, other]) => [one.bus, other.bus] as const),
    losable: Effect.map(enginePair, ([one, other]) => ({ lost: one.bus, other: other.bus, lose: one.lose })),
    lease: "2 seconds"
  }
)

const waits = { penalty: 30_000 }

tableSourceClientContract(
  "A client that paces itself, with words of its own",
  (options) =>
    Effect.map(TableSourceClientMemory.make(options), ({ client, delayNext, ...memory }) => {
      const ask = <A, E>(id: string | null, request: Effect.Effect<A, E | TableError>) =>
        Effect.mapError(Effect.delay(request, "200 millis"), (error) =>
          error instanceof TableError && error.reason === "NotFound" && error.status === undefined
            ? new TableError({ ...error, detail: `no ${id}` })
            : error
        )
      return {
        ...memory,
        client: TableSourceClient.of({
          listPage: (request) => ask(request.fields?.join() ?? request.view, client.listPage(request)),
          readRecord: (request) => ask(request.recordId, client.readRecord(request))
        }),
        delayNext: () => delayNext(waits.penalty)
      }
    }),
  { waits }
)
