/**
 * Content as a layer of a program without a controller, and its metrics and spans.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { expect, expectTypeOf, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import * as Tracer from "effect/Tracer"
import { content } from "../../../src/index.ts"
import * as ControllerStateMemory from "../../../src/layers/controller/ControllerStateMemory.ts"
import * as ContentLayer from "../../../src/layers/fetching/Content.ts"
import * as CommandBusMemory from "../../../src/layers/memory/CommandBusMemory.ts"
import * as EventBusMemory from "../../../src/layers/memory/EventBusMemory.ts"
import * as RequestPacingMemory from "../../../src/layers/memory/RequestPacingMemory.ts"
import * as TableSource from "../../../src/layers/sources/tables/TableSource.ts"
import * as VersionStoreDisk from "../../../src/layers/versions/VersionStoreDisk.ts"
import { CommandBus } from "../../../src/services/CommandBus.ts"
import { Content } from "../../../src/services/Content.ts"
import type { FetchOutcome } from "../../../src/services/ContentEvents.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { EventBus } from "../../../src/services/EventBus.ts"
import { TableError, TableSourceClient } from "../../../src/services/TableSourceClient.ts"
import { VersionStore } from "../../../src/services/VersionStore.ts"
import { WaitObserver } from "../../../src/services/WaitObserver.ts"
import * as TableSourceClientMemory from "../../../src/testing/TableSourceClientMemory.ts"
import { withCountedFiles } from "../../support/countedFiles.ts"
import { withJumpingClock } from "../../support/jumpingClock.ts"
import { countsOf, since } from "../../support/metrics.ts"

const onFiles = Layer.unwrapScoped(
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const directory = yield* fs.makeTempDirectoryScoped()
    return VersionStoreDisk.layer({ directory, keepVersions: 2, ackLease: "30 minutes" })
  })
).pipe(
  Layer.merge(EventBusMemory.layer),
  Layer.merge(CommandBusMemory.layer),
  Layer.merge(ControllerStateMemory.layer("task")),
  Layer.merge(RequestPacingMemory.layer),
  Layer.merge(NodeHttpClient.layer)
)

const services = Layer.provideMerge(onFiles, NodeContext.layer)

/** A source over tables in memory. */
const makeTables = (id: string) =>
  Effect.map(TableSourceClientMemory.make(), (memory) => {
    const client = TableSourceClient.of({
      ...memory.client,
      listPage: (request) =>
        Effect.zipRight(
          Effect.flatMap(WaitObserver, ({ waiting }) => waiting({ reason: "pacing", millis: 215 })),
          memory.client.listPage(request)
        )
    })
    const make = Effect.provideService(
      TableSource.make({ id, tables: ["Objects"] }),
      TableSourceClient,
      client
    )
    return { ...memory, definition: { id, issues: [], make } }
  })

const objects = (count: number) => Array.from({ length: count }, (_, n) => ({ id: `rec${n}`, fields: { n } }))

it.scoped("the layer of content fetches on request, with a typed result", () =>
  Effect.gen(function* () {
    const { definition, setTable } = yield* makeTables("exhibits")
    yield* setTable("Objects", objects(3))
    yield* Effect.gen(function* () {
      const outcome = yield* Effect.flatMap(Content, ({ fetch }) => fetch)
      expectTypeOf(outcome).toEqualTypeOf<FetchOutcome>()
      expect(outcome).toMatchObject({ changed: true, records: 3 })
      const { manifest } = yield* VersionStore
      expect(yield* manifest).toMatchObject({ manifest: { versionId: outcome.versionId } })
      const { plugins } = yield* Effect.flatMap(ControllerState, ({ state }) => state)
      const { bytes } = yield* Effect.flatMap(VersionStore, ({ verify }) => verify())
      expect(plugins.content).toMatchObject({ disk: { freeBytes: expect.any(Number), versionBytes: bytes } })
    }).pipe(Effect.provide(ContentLayer.layer({ sources: [definition] })))
  }).pipe(Effect.provide(services))
)

const counts = { reads: 0, parts: 0, stats: 0 }

it.scoped("each look at an idle content reads its manifest once", () =>
  Effect.gen(function* () {
    const { definition, setTable } = yield* makeTables("exhibits")
    yield* setTable("Objects", objects(3))
    yield* Effect.gen(function* () {
      const { state } = yield* ControllerState
      yield* Effect.flatMap(Content, ({ fetch }) => fetch)
      yield* state
      counts.reads = 0
      yield* TestClock.adjust("2 seconds")
      yield* state
      expect(counts.reads).toBe(1)
    }).pipe(Effect.provide(ContentLayer.layer({ sources: [definition] })))
  }).pipe(
    Effect.provide(
      onFiles.pipe(
        Layer.provideMerge(withCountedFiles(counts, (path) => path.endsWith("/manifest.json"))),
        Layer.provideMerge(NodeContext.layer)
      )
    )
  )
)

it.scoped("content whose fetches fail for longer than its failingFor is an error, without a dashboard", () =>
  Effect.gen(function* () {
    const { definition, failNext, setTable } = yield* makeTables("exhibits")
    yield* setTable("Objects", objects(3))
    yield* Effect.gen(function* () {
      const { fetch } = yield* Content
      const problems = Effect.map(
        Effect.flatMap(ControllerState, ({ state }) => state),
        ({ problems = [] }) => problems.map(({ code, severity }) => [code, severity])
      )
      yield* fetch
      yield* failNext(new TableError({ table: "Objects", reason: "Refused", detail: "no" }))
      yield* Effect.flip(fetch)
      yield* TestClock.adjust("59 seconds")
      expect(yield* problems).toContainEqual(["content:failing", "warning"])
      yield* TestClock.adjust("1 second")
      expect(yield* problems).toContainEqual(["content:failing", "error"])
    }).pipe(Effect.provide(ContentLayer.layer({ sources: [definition], failingFor: "1 minute" })))
  }).pipe(Effect.provide(services))
)

it.scoped("content is not failing for long when the clock of the machine is set to the right day", () =>
  withJumpingClock(({ adjust, set }) =>
    Effect.gen(function* () {
      const { definition, failNext, setTable } = yield* makeTables("exhibits")
      yield* setTable("Objects", objects(3))
      yield* Effect.gen(function* () {
        const { fetch } = yield* Content
        yield* fetch
        yield* failNext(new TableError({ table: "Objects", reason: "Refused", detail: "no" }))
        yield* Effect.flip(fetch)
        const severity = Effect.map(
          Effect.flatMap(ControllerState, ({ state }) => state),
          ({ problems = [] }) => problems.find(({ code }) => code === "content:failing")?.severity
        )
        yield* set(24 * 60 * 60 * 1000)
        yield* adjust("58 seconds")
        const view = Effect.map(
          Effect.flatMap(ControllerState, ({ read }) => read),
          ({ view }) => view
        )
        const before = yield* view
        yield* adjust("0.5 seconds")
        expect(yield* view).toBe(before)
        yield* adjust("0.5 seconds")
        expect(yield* severity).toBe("warning")
        yield* set(-48 * 60 * 60 * 1000)
        yield* adjust("1 second")
        expect(yield* severity).toBe("error")
      }).pipe(Effect.provide(ContentLayer.layer({ sources: [definition], failingFor: "1 minute" })))
    }).pipe(Effect.provide(services))
  )
)

it.scoped(
  "a source of several is not failing for long when the clock of the machine is set to the right day",
  () =>
    withJumpingClock(({ adjust, set }) =>
      Effect.gen(function* () {
        const tables = [yield* makeTables("exhibits"), yield* makeTables("news")] as const
        for (const { setTable } of tables) yield* setTable("Objects", objects(3))
        const fails = tables[1].failNext(
          new TableError({ table: "Objects", reason: "Refused", detail: "no" })
        )
        yield* Effect.gen(function* () {
          const { fetch } = yield* Content
          const failing = Effect.map(
            Effect.flatMap(ControllerState, ({ state }) => state),
            ({ problems = [] }) =>
              problems.flatMap(({ code, severity, since }) =>
                code === "content:failing" ? [severity, since] : []
              )
          )
          yield* fetch
          yield* fails
          yield* fetch
          yield* set(24 * 60 * 60 * 1000)
          yield* adjust("30 seconds")
          expect(yield* failing).toEqual(["warning", "1970-01-02T00:00:00.000Z"])
          yield* fails
          yield* fetch
          expect(yield* failing).toEqual(["warning", "1970-01-02T00:00:00.000Z"])
          yield* adjust("31 seconds")
          expect(yield* failing).toEqual(["error", "1970-01-02T00:00:00.000Z"])
        }).pipe(
          Effect.provide(
            ContentLayer.layer({
              sources: tables.map(({ definition }) => definition),
              independent: true,
              failingFor: "1 minute"
            })
          )
        )
      }).pipe(Effect.provide(services))
    )
)

it.scoped("content is not too old when the clock of the machine is set to the right day", () =>
  withJumpingClock(({ adjust, set }) =>
    Effect.gen(function* () {
      const { definition, setTable } = yield* makeTables("exhibits")
      yield* setTable("Objects", objects(3))
      yield* Effect.gen(function* () {
        const { fetch } = yield* Content
        yield* fetch
        const { state } = yield* ControllerState
        yield* set(24 * 60 * 60 * 1000)
        yield* adjust("58 seconds")
        const { plugins, problems } = yield* state
        expect(problems).toEqual([])
        expect(plugins).toMatchObject({
          content: {
            lastSuccess: "1970-01-02T00:00:00.000Z",
            lastFetch: { timestamp: "1970-01-02T00:00:00.000Z" }
          }
        })
        yield* adjust("3 seconds")
        expect((yield* state).problems).toMatchObject([
          { code: "content:old", since: "1970-01-02T00:00:00.000Z" }
        ])
      }).pipe(Effect.provide(ContentLayer.layer({ sources: [definition], maxAge: "1 minute" })))
    }).pipe(Effect.provide(services))
  )
)

it.scoped("a fetch that hangs is a problem after fifteen minutes, and an error after an hour", () =>
  Effect.gen(function* () {
    const { definition, setTable } = yield* makeTables("exhibits")
    yield* setTable("Objects", objects(3))
    const hanging = yield* Deferred.make<void>()
    let hangs = false
    const make = Effect.map(definition.make, (source) => ({
      ...source,
      fetch: (...target: Parameters<typeof source.fetch>) =>
        Effect.suspend(() =>
          hangs
            ? Effect.zipRight(Deferred.succeed(hanging, undefined), Effect.never)
            : source.fetch(...target)
        )
    }))
    yield* Effect.gen(function* () {
      const { fetch } = yield* Content
      const problems = Effect.map(
        Effect.flatMap(ControllerState, ({ state }) => state),
        ({ problems = [] }) => problems.map(({ code, severity, since }) => [code, severity, since])
      )
      yield* fetch
      yield* TestClock.adjust("1 hour")
      hangs = true
      yield* Effect.fork(fetch)
      yield* Deferred.await(hanging)
      yield* TestClock.adjust("14 minutes")
      expect(yield* problems).toEqual([])
      yield* TestClock.adjust("2 minutes")
      expect(yield* problems).toEqual([["content:stalled", "warning", "1970-01-01T01:00:00.000Z"]])
      yield* TestClock.adjust("45 minutes")
      expect(yield* problems).toEqual([["content:stalled", "error", "1970-01-01T01:00:00.000Z"]])
    }).pipe(Effect.provide(ContentLayer.layer({ sources: [{ ...definition, make }] })))
  }).pipe(Effect.provide(services))
)

it.scoped("a fetch that waits again and again, as its server asks, does not count as one that hangs", () =>
  Effect.gen(function* () {
    const { definition, setTable } = yield* makeTables("exhibits")
    yield* setTable("Objects", objects(3))
    const begun = yield* Deferred.make<void>()
    const pause = Effect.gen(function* () {
      yield* (yield* WaitObserver).waiting({ reason: "retry", millis: 600_000 })
      yield* Deferred.succeed(begun, undefined)
      yield* Effect.sleep("10 minutes")
    })
    const make = Effect.map(definition.make, (source) => ({
      ...source,
      fetch: (...target: Parameters<typeof source.fetch>) =>
        Effect.zipRight(Effect.repeatN(pause, 2), source.fetch(...target))
    }))
    yield* Effect.gen(function* () {
      const { fetch } = yield* Content
      const fetching = yield* Effect.fork(fetch)
      yield* Deferred.await(begun)
      yield* TestClock.adjust("17 minutes")
      const { problems = [] } = yield* Effect.flatMap(ControllerState, ({ state }) => state)
      expect(problems.map(({ code }) => code)).toEqual(["content:none"])
      yield* Fiber.interrupt(fetching)
    }).pipe(Effect.provide(ContentLayer.layer({ sources: [{ ...definition, make }] })))
  }).pipe(Effect.provide(services))
)

it.scoped("the layer of content reports every mistake in its options", () =>
  Effect.gen(function* () {
    const { definition } = yield* makeTables("exhibits")
    const layer = ContentLayer.layer({ fetchEvery: 0, sources: [definition, definition] })
    const error = yield* Effect.flip(Layer.build(layer))
    expect(error.message).toContain("fetchEvery: expected a duration")
    expect(error.message).toContain('sources[1].id: another source has the id "exhibits"')
    const source = yield* Effect.flip(
      Effect.provide(TableSource.make({ id: "a/b", tables: ["Objects", "Objects"] }), services)
    ).pipe(
      Effect.provideServiceEffect(
        TableSourceClient,
        Effect.map(makeTables("x"), ({ client }) => client)
      )
    )
    expect(source.message).toContain("id: expected one plain file name")
    expect(source.message).toContain("tables[1]: the table")
  }).pipe(Effect.provide(services))
)

it.scoped("metrics count fetches, promotions, records and versions", () =>
  Effect.gen(function* () {
    const { definition, failNext, setTable } = yield* makeTables("counted")
    const read = Effect.all({
      fetches: countsOf("vitrine_content_fetches_total"),
      promotions: countsOf("vitrine_content_promotions_total")
    })
    const before = yield* read

    yield* setTable("Objects", objects(250))
    yield* Effect.gen(function* () {
      const { fetch } = yield* Content
      yield* fetch
      yield* TestClock.adjust("10 seconds")
      yield* fetch
      yield* setTable("Objects", objects(120))
      yield* TestClock.adjust("10 seconds")
      yield* fetch
      yield* failNext(new TableError({ table: "Objects", reason: "Unreachable", detail: "no network" }))
      yield* Effect.flip(fetch)
    }).pipe(Effect.provide(ContentLayer.layer({ sources: [definition] })))

    const after = yield* read
    expect(since(after.fetches, before.fetches)).toEqual({
      "outcome=promoted": 2,
      "outcome=unchanged": 1,
      "outcome=failed": 1
    })
    expect(since(after.promotions, before.promotions)).toEqual({ "": 2 })
    expect(yield* countsOf("vitrine_content_last_success_timestamp_seconds")).toEqual({ "unit=s": 20 })
    expect(yield* countsOf("vitrine_content_records")).toMatchObject({ "source=counted": 120 })
    expect(yield* countsOf("vitrine_content_versions")).toEqual({ "": 2 })
  }).pipe(Effect.provide(services))
)

it.scoped("a fetch is a tree of spans with counts of records, without a span for each page", () =>
  Effect.gen(function* () {
    const { definition, setTable } = yield* makeTables("exhibits")
    yield* setTable("Objects", objects(250))
    const { spans, tracer } = yield* collectSpans
    yield* Effect.gen(function* () {
      yield* Layer.build(ContentLayer.layer({ sources: [definition] })).pipe(Effect.withSpan("setup"))
      const { dispatch } = yield* CommandBus
      yield* dispatch({ type: "content.fetch" }).pipe(Effect.withSpan("request"))
    }).pipe(Effect.withTracer(tracer))
    const versionId = "19700101T000000Z"
    const told = Object.fromEntries(
      spans.map(({ attributes, name }) => [name, Object.fromEntries(attributes)])
    )
    expect(told).toMatchObject({
      "Content.fetch": { changed: true, records: 250, versionId },
      "Content.fetchSource": { source: "exhibits", records: 250, attachments: 0 },
      "Content.promote": { changed: true, versionId },
      "DocumentSource.read": { document: "Objects", records: 250 }
    })
    expect(parentsOf(spans)).toMatchObject({
      "CommandBus.dispatch": "request",
      "Content.fetch": "CommandBus.dispatch",
      "Content.fetchSource": "Content.fetch",
      "DocumentSource.fetch": "Content.fetchSource",
      "DocumentSource.read": "DocumentSource.fetch",
      "Content.promote": "Content.fetch"
    })
  }).pipe(Effect.provide(services))
)

it.scoped("a scheduled fetch starts its own trace", () =>
  Effect.gen(function* () {
    const { definition, setTable } = yield* makeTables("exhibits")
    yield* setTable("Objects", objects(1))
    const { spans, tracer } = yield* collectSpans
    yield* Effect.gen(function* () {
      const events = yield* Effect.flatMap(EventBus, ({ subscribe }) => subscribe)
      const context = yield* Layer.build(ContentLayer.layer({ sources: [definition] }))
      yield* Context.get(context, Content).start
      yield* Stream.runHead(Stream.filter(events, ({ name }) => name === "content:fetch:done"))
    }).pipe(
      Effect.withSpan("setup"),
      Effect.provide(ControllerStateMemory.layer("persistent")),
      Effect.withTracer(tracer)
    )
    expect(parentsOf(spans)).toMatchObject({ "Content.fetch": null, "Content.fetchSource": "Content.fetch" })
  }).pipe(Effect.provide(services))
)

const collectSpans = Effect.map(Effect.tracer, (live) => {
  const spans: Array<Tracer.Span> = []
  const tracer = Tracer.make({
    ...live,
    span: (...parameters) => {
      const span = live.span(...parameters)
      spans.push(span)
      return span
    }
  })
  return { spans, tracer }
})

/** The names of the parent spans. */
const parentsOf = (spans: ReadonlyArray<Tracer.Span>) =>
  Object.fromEntries(
    spans.map(({ name, parent }) => [
      name,
      Option.match(parent, {
        onNone: () => null,
        onSome: (above) => spans.find(({ spanId }) => spanId === above.spanId)?.name
      })
    ])
  )

it.scoped("the layer of content reports the place of a mistake as the plugin does", () =>
  Effect.gen(function* () {
    const mistake = {
      path: "settle",
      message: 'expected a duration such as "10 seconds", 10 minutes at most, or 0, got "1 hour"'
    }
    expect(content({ sources: [], settle: "1 hour" }).issues).toEqual([mistake])
    const error = yield* Effect.flip(ContentLayer.make({ sources: [], settle: "1 hour" }))
    expect(error).toMatchObject({ _tag: "vitrine/InvalidOptions", issues: [mistake] })
  }).pipe(Effect.provide(services))
)
