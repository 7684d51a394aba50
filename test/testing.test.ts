/**
 * The suites of `vitrine/testing` are fair: their subscriptions and registrations end before the layer does.
 */
import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { describe, expect, it } from "@effect/vitest"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as PubSub from "effect/PubSub"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import { maxEvents } from "../src/internal/keptEvents.ts"
import * as CommandBusMemory from "../src/layers/memory/CommandBusMemory.ts"
import { feed } from "../src/layers/memory/definedEvents.ts"
import * as EventBusMemory from "../src/layers/memory/EventBusMemory.ts"
import { CommandBus, InvalidCommandFields } from "../src/services/CommandBus.ts"
import type { ContentSource, FetchedSource, FetchTarget } from "../src/services/ContentSource.ts"
import { type BusEvent, EventBus } from "../src/services/EventBus.ts"
import { TableError, TableSourceClient } from "../src/services/TableSourceClient.ts"
import { expectSeveral } from "../src/testing/commandBusContract.ts"
import { fetchChecked } from "../src/testing/contentSourceContract.ts"
import { expectHandedOn } from "../src/testing/eventBusWrapperContract.ts"
import * as TableSourceClientMemory from "../src/testing/TableSourceClientMemory.ts"
import {
  commandBusContract,
  eventBusContract,
  eventBusWrapperContract,
  tableSourceClientContract
} from "../src/testing.ts"
import * as commandEngine from "./support/commandEngine.ts"
import * as eventEngine from "./support/eventEngine.ts"
import { sha256 } from "./support/sha256.ts"

/** Each acquisition must be released before the scope ends; otherwise the scope dies. */
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
      subscribe: Effect.map(bus.subscribe, (inner) =>
        feed(
          Stream.map(inner, (event) => ({ ...event, payload: null })),
          inner.first
        )
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

/** A source of one file whose result is correct. */
const honest: ContentSource = {
  id: "museum",
  fetch: ({ directory }) =>
    Effect.promise(async () => {
      await writeFile(join(directory, "Objects.json"), "[]\n")
      return {
        fingerprint: "1",
        records: 0,
        bytes: 3,
        digests: { "Objects.json": sha256("[]\n") },
        documents: { "Objects.json": {} }
      }
    })
}

for (const capacity of [4, 1])
  eventBusContract(
    `A bus with room for ${capacity} events`,
    Layer.scoped(
      EventBus,
      Effect.gen(function* () {
        const events = yield* PubSub.sliding<BusEvent>(capacity)
        let last = 0
        return EventBus.of({
          publish: (name, payload) =>
            Effect.sync(() => Effect.runSync(PubSub.publish(events, { name, payload, sequence: ++last }))),
          subscribe: Effect.map(Stream.fromPubSub(events, { scoped: true }), (stream) =>
            feed(stream, last + 1)
          ),
          emptied: Stream.empty
        })
      })
    ),
    { capacity }
  )

describe("the suite of a wrapper of a bus finds a wrapper", () => {
  it.scopedLive.each<
    readonly [string, (bus: typeof EventBus.Service) => Partial<typeof EventBus.Service>, string]
  >([
    ["that publishes nothing", () => ({ publish: () => Effect.void }), "reaches the bus within"],
    [
      "whose events all have the number 0",
      (bus) => ({
        subscribe: Effect.map(
          bus.subscribe,
          Stream.map((event) => ({ ...event, sequence: 0 }))
        )
      }),
      "with their numbers on the bus within"
    ],
    [
      "that does not tell where a feed begins",
      (bus) => ({
        subscribe: Effect.map(
          bus.subscribe,
          Stream.filter(() => true)
        )
      }),
      "passes on the `first` number"
    ],
    [
      "that subscribes only when the feed is read",
      (bus) => ({ subscribe: Effect.succeed(Stream.unwrapScoped(bus.subscribe)) }),
      "has the events since `subscribe` returned"
    ]
  ])("%s", ([, change, words]) =>
    Effect.gen(function* () {
      const bus = yield* EventBusMemory.make
      yield* expectHandedOn(bus, bus)
      const found = yield* Effect.flip(Effect.sandbox(expectHandedOn({ ...bus, ...change(bus) }, bus)))
      expect(Cause.pretty(found)).toContain(words)
    })
  )
})

it.scopedLive("the suite of a command bus finds a bus that runs one command at a time", () =>
  Effect.gen(function* () {
    yield* expectSeveral(yield* CommandBusMemory.make)
    const bus = yield* CommandBusMemory.make
    const { withPermits } = yield* Effect.makeSemaphore(1)
    const oneByOne: typeof CommandBus.Service = {
      ...bus,
      dispatch: (command, options) => withPermits(1)(bus.dispatch(command, options))
    }
    const found = yield* Effect.flip(Effect.sandbox(expectSeveral(oneByOne)))
    expect(Cause.pretty(found)).toContain("run several commands at a time")
  })
)

describe("the suite of a source finds a source", () => {
  const says = (fetched: Partial<FetchedSource>): ContentSource => ({
    ...honest,
    fetch: (target) => Effect.map(honest.fetch(target), (result) => ({ ...result, ...fetched }))
  })
  const writes = (fileIn: (target: FetchTarget) => string, fingerprint = "1"): ContentSource => ({
    ...honest,
    fetch: (target) =>
      Effect.tap(says({ fingerprint }).fetch(target), () =>
        Effect.promise(() => writeFile(fileIn(target), ""))
      )
  })

  it.scoped.each<readonly [string, ContentSource, string]>([
    [
      "with a wrong digest",
      says({ digests: { "Objects.json": sha256("{}") } }),
      '"digests" has no SHA-256 of the file Objects.json'
    ],
    [
      "with a digest of no file",
      says({ digests: { "Rooms.json": sha256("[]\n") } }),
      '"digests" has no SHA-256 of the file Rooms.json'
    ],
    ["with wrong bytes", says({ bytes: 4 }), '"bytes" is 4, and the files have 3'],
    ["with a document of no file", says({ documents: { Objects: {} } }), '"documents" has Objects, which is'],
    [
      "that writes beside its folder",
      writes(({ directory }) => join(directory, "../Rooms.json")),
      "A fetch writes into its target only"
    ],
    [
      "that writes into the version before",
      writes(({ directory, previous }) =>
        join(
          Option.match(previous, { onNone: () => directory, onSome: ({ directory }) => directory }),
          "More.json"
        )
      ),
      "A fetch only reads the folder of the version before"
    ]
  ])("%s", ([, source, words]) =>
    Effect.gen(function* () {
      const before = yield* fetchChecked(honest)
      expect((yield* fetchChecked(honest, { previous: Option.some(before) })).files).toEqual(before.files)
      const found = yield* Effect.flip(
        Effect.sandbox(
          Effect.zipRight(
            fetchChecked(source, { previous: Option.some({ ...before, fingerprint: Option.none() }) }),
            fetchChecked(source)
          )
        )
      )
      expect(Cause.pretty(found)).toContain(words)
    })
  )
})
