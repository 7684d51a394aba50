/**
 * Independent sources. docs/content.md says what users are promised.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FastCheck from "effect/FastCheck"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import * as ControllerStateMemory from "../../../src/layers/controller/ControllerStateMemory.ts"
import { changesSince } from "../../../src/layers/documents/DocumentSource.ts"
import * as Content from "../../../src/layers/fetching/Content.ts"
import { errorOf } from "../../../src/layers/fetching/contentState.ts"
import * as Undo from "../../../src/layers/fetching/Undo.ts"
import * as CommandBusMemory from "../../../src/layers/memory/CommandBusMemory.ts"
import * as EventBusMemory from "../../../src/layers/memory/EventBusMemory.ts"
import { activeIn } from "../../../src/layers/versions/ManifestFile.ts"
import { CommandBus } from "../../../src/services/CommandBus.ts"
import type { ContentSource } from "../../../src/services/ContentSource.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { SourceError } from "../../../src/services/SourceError.ts"
import { VersionStore } from "../../../src/services/VersionStore.ts"
import { contentState, rowValue, sourceRows, temporaryStore } from "../../support/content.ts"
import { assertHistories } from "../../support/histories.ts"
import { scenarios } from "../../support/scenario.ts"
import { eventLoopTurn, eventually } from "../../support/waiting.ts"

type Trouble = "none" | "transient" | "permanent" | "rejected" | "poll" | "unknown"

/** A source that somebody edits and breaks. Its content is its revision. */
const makeSource = (id: string, hasPoll: boolean) =>
  Effect.map(FileSystem.FileSystem, (fs) => {
    let revision = 0
    let trouble: Trouble = "none"
    let fetched = ""
    let reads = 0
    const failure = (isTransient: boolean) =>
      new SourceError({ source: id, detail: "as the test wants it", isTransient })
    const source: ContentSource & { options?: string } = {
      id,
      options: "the first ones",
      ...(hasPoll && {
        poll: (cursor) =>
          trouble === "poll"
            ? failure(true)
            : Effect.succeed(
                trouble === "unknown"
                  ? { cursor: Option.getOrElse(cursor, () => "none"), changed: { reason: "busy" } }
                  : changesSince(cursor, String(revision))
              )
      }),
      fetch: ({ directory }) =>
        Effect.gen(function* () {
          reads++
          const content = `${id}${revision}`
          yield* Effect.orDie(fs.writeFileString(`${directory}/data.json`, content))
          if (trouble === "rejected") {
            return yield* new SourceError({
              source: id,
              violations: [{ table: "data", expected: "text", found: "nothing" }]
            })
          }
          if (trouble === "transient" || trouble === "permanent") yield* failure(trouble === "transient")
          fetched = content
          return { fingerprint: content, records: 1, bytes: content.length }
        })
    }
    return {
      source,
      edit: () => revision++,
      set: (next: Trouble) => {
        trouble = next
      },
      newest: () => `${id}${revision}`,
      fetched: () => fetched,
      reads: () => reads
    }
  })

type World = ReadonlyArray<Effect.Effect.Success<ReturnType<typeof makeSource>>>

const makeWorld = Effect.all([
  makeSource("objects", true),
  makeSource("tours", false),
  makeSource("films", true)
])

/** The content of the active version, source by source. */
const active = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const { directory, manifest } = yield* VersionStore
  const { sources, versionPath } = yield* activeIn(yield* manifest)
  return yield* Effect.forEach(sources, ({ path }) =>
    fs.readFileString(`${directory}/${versionPath}/${path}/data.json`)
  )
})

const environment = temporaryStore.pipe(
  Layer.merge(EventBusMemory.layer),
  Layer.provideMerge(NodeContext.layer)
)
const services = () => Layer.merge(CommandBusMemory.layer, ControllerStateMemory.layer("persistent"))

/** A controller with these sources, until `stop`. */
const begin = Effect.fnUntraced(function* (
  world: World,
  settings: Parameters<typeof Content.fromSources>[0] = {}
) {
  const scope = yield* Scope.make()
  const context = yield* Layer.buildWithScope(services(), scope)
  const { fetch, start } = yield* Content.fromSources(
    { fetchEvery: "1 minute", settle: 0, independent: true, ...settings },
    world.map(({ source }) => source)
  ).pipe(Scope.extend(scope), Effect.provide(context))
  yield* start
  const sees = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.provide(effect, context)
  /** Waits until the controller sleeps until the next tick. */
  const quiet = Effect.zipRight(
    eventLoopTurn,
    eventually(
      Effect.map(
        sees(contentState),
        ({ fetchingSince, isPolling, nextFetch }) =>
          fetchingSince === undefined && isPolling === undefined && nextFetch !== undefined
      )
    )
  )
  yield* quiet
  return {
    fetch: Effect.zipLeft(fetch, quiet),
    stop: Scope.close(scope, Exit.void),
    sees,
    /** Lets time pass, and everything run that is due. */
    pass: (duration: Duration.DurationInput) =>
      Effect.gen(function* () {
        const end = (yield* Clock.currentTimeMillis) + Duration.toMillis(duration)
        while ((yield* Clock.currentTimeMillis) < end) {
          const next = Math.min(...Chunk.toReadonlyArray(yield* TestClock.sleeps()))
          yield* TestClock.setTime(Math.min(next, end))
          yield* quiet
        }
      })
  }
})

const problems = Effect.flatMap(ControllerState, ({ read }) => read).pipe(
  Effect.map(({ view: { problems } }) =>
    problems.map(({ code, severity, since, subject }) => [code, subject, severity, since])
  )
)

const command = (type: string, fields = {}) =>
  Effect.flatMap(CommandBus, ({ dispatch }) => dispatch({ type: `content.${type}`, ...fields }))

const scenario = scenarios(environment, makeWorld)

scenario("a source that fails keeps its content, and changes of the others are published", function* (world) {
  const [objects, tours] = world
  const running = yield* begin(world)
  tours.set("permanent")
  objects.edit()
  const failedAt = yield* Clock.currentTimeMillis
  yield* running.pass("1 minute")
  expect(yield* active).toEqual(["objects1", "tours0", "films0"])
  const { lastFetch, lastSuccess, sources } = yield* running.sees(contentState)
  const since = sources.tours?.failing?.since ?? ""
  expect(Date.parse(since) - failedAt).toBeLessThanOrEqual(60_000)
  expect(lastFetch).toMatchObject({ kept: [{ sourceId: "tours", since, message: "as the test wants it" }] })
  expect(lastSuccess).not.toBe(lastFetch?.timestamp)
  expect(yield* running.sees(problems)).toEqual([["content:failing", "tours", "warning", since]])
  expect(yield* running.sees(rowValue("Last fetch"))).toContain("new version; failed: tours")
  const { view } = yield* running.sees(Effect.flatMap(ControllerState, ({ read }) => read))
  expect(view.contents[0]?.lastFetch).toMatchObject({ result: "new version; failed: tours" })
  expect(yield* running.sees(rowValue("Old content"))).toBeUndefined()
  expect(yield* running.sees(sourceRows("tours"))).toContainEqual([
    "Failing",
    `since ${since}; its content is from before`
  ])
  yield* running.pass("16 minutes")
  expect(yield* running.sees(problems)).toEqual([["content:failing", "tours", "error", since]])

  yield* running.stop
  const restarted = yield* begin(world)
  expect(yield* restarted.sees(problems)).toEqual([["content:failing", "tours", "error", since]])
  tours.edit()
  tours.set("none")
  yield* restarted.pass("11 minutes")
  expect(yield* active).toEqual(["objects1", "tours1", "films0"])
  expect(yield* restarted.sees(problems)).toEqual([])
  yield* restarted.stop
})

scenario(
  "a source that fails makes no version alone, and the status says since when it is old",
  function* (world) {
    const [, tours, films] = world
    const running = yield* begin(world)
    const { versionId } = yield* running.sees(contentState)
    tours.set("transient")
    films.set("poll")
    yield* running.pass("2 minutes")
    expect(yield* running.sees(contentState)).toMatchObject({ versionId, lastFetch: { changed: false } })
    const found = yield* running.sees(problems)
    expect(found.map(([, subject]) => subject)).toEqual(["tours", "films"])
    yield* running.stop
    const restarted = yield* begin(world)
    expect(yield* restarted.sees(problems)).toEqual(found)
    tours.set("none")
    films.set("none")
    yield* restarted.pass("5 minutes")
    expect(yield* restarted.sees(problems)).toEqual([])
    expect((yield* restarted.sees(contentState)).versionId).toBe(versionId)
    yield* restarted.stop
  }
)

scenario("all sources that fail are one failed fetch", function* (world) {
  const running = yield* begin(world)
  for (const source of world) {
    source.edit()
    source.set("transient")
  }
  yield* running.pass("1 minute")
  expect(yield* active).toEqual(["objects0", "tours0", "films0"])
  expect((yield* running.sees(problems)).map(([, subject]) => subject)).toEqual(["content"])
  for (const source of world.slice(1)) source.set("none")
  yield* running.pass("5 minutes")
  expect(yield* active).toEqual(["objects0", "tours1", "films1"])
  expect((yield* running.sees(problems)).map(([, subject]) => subject)).toEqual(["objects"])
  yield* running.stop
})

scenario("the first version needs every source, and so does a source that is new", function* (world) {
  const [objects, tours, films] = world
  films.set("permanent")
  const running = yield* begin(world)
  expect(Option.isNone(yield* Effect.option(active))).toBe(true)
  expect(errorOf(yield* running.sees(contentState))?.message).toBe('Source "films": as the test wants it')
  yield* running.stop
  const two = yield* begin([objects, tours])
  expect(yield* active).toEqual(["objects0", "tours0"])
  yield* two.stop
  objects.edit()
  const three = yield* begin(world)
  yield* three.pass("20 minutes")
  expect(yield* active).toEqual(["objects0", "tours0"])
  expect((yield* three.sees(problems)).map(([, subject]) => subject)).toEqual(["content"])
  const { view } = yield* three.sees(Effect.flatMap(ControllerState, ({ read }) => read))
  expect(view.problems[0]?.text).toMatch(
    /Source "films": as the test wants it\. Changes of the other sources wait until this source works, because the latest version has no content of it.* remove it from "sources"/
  )
  films.set("none")
  yield* three.pass("11 minutes")
  expect(yield* active).toEqual(["objects1", "tours0", "films0"])
  yield* three.stop
})

scenario("a source whose options have changed holds the version back until it works", function* (world) {
  const [objects, tours] = world
  const first = yield* begin(world)
  yield* first.stop
  tours.source.options = "others"
  tours.set("permanent")
  objects.edit()
  const second = yield* begin(world)
  objects.edit()
  yield* second.pass("1 minute")
  expect(yield* active).toEqual(["objects0", "tours0", "films0"])
  expect(errorOf(yield* second.sees(contentState))?.message).toMatch(
    /Source "tours": .* until this source works, because its options have changed\. .* former options/
  )
  tours.set("none")
  yield* second.pass("11 minutes")
  expect(yield* active).toEqual(["objects2", "tours0", "films0"])
  yield* second.stop
  tours.set("permanent")
  objects.edit()
  const third = yield* begin(world)
  expect(yield* active).toEqual(["objects3", "tours0", "films0"])
  yield* third.stop
})

scenario("a source that fails is not read again with each change of another source", function* (world) {
  const [objects, tours, films] = world
  const running = yield* begin(world)
  for (const source of [tours, films]) {
    source.edit()
    source.set("permanent")
  }
  yield* running.pass("1 minute")
  const before = [tours.reads(), films.reads()]
  for (let minutes = 0; minutes < 8; minutes++) {
    objects.edit()
    yield* running.pass("1 minute")
  }
  expect([tours.reads(), films.reads()]).toEqual(before)
  expect(yield* active).toEqual([objects.newest(), "tours0", "films0"])
  films.edit()
  films.set("none")
  yield* running.pass("1 minute")
  expect(yield* active).toEqual([objects.newest(), "tours0", "films2"])
  yield* running.stop
})

scenario("a source that is rejected keeps its content and its violations", function* (world) {
  const [objects, tours] = world
  const running = yield* begin(world)
  tours.set("rejected")
  objects.edit()
  yield* running.pass("1 minute")
  expect(yield* active).toEqual(["objects1", "tours0", "films0"])
  expect((yield* running.sees(contentState)).rejection).toMatchObject({ sourceId: "tours" })
  tours.set("none")
  yield* running.fetch
  expect((yield* running.sees(contentState)).rejection).toBeUndefined()
  yield* running.stop
})

scenario(
  "a fetch by hand, a check, the versions, their difference and a hold name the sources that are old",
  function* (world) {
    const [objects, tours] = world
    const running = yield* begin(world)
    tours.set("permanent")
    objects.edit()
    const kept = [{ sourceId: "tours", since: expect.any(String), message: "as the test wants it" }]
    expect(yield* running.sees(command("check"))).toMatchObject({
      kept,
      sources: [{ changed: true }, { sourceId: "tours", changed: false, records: 1 }, { changed: false }]
    })
    expect(yield* running.fetch).toMatchObject({ changed: true, records: 3, kept })
    const { since } = (yield* running.sees(contentState)).kept?.[0] ?? {}
    const named = [{ sourceId: "tours", since }]
    expect(yield* running.sees(command("diff"))).toMatchObject({ kept: named })
    expect(yield* running.sees(command("hold"))).toMatchObject({ kept: named })
    expect(yield* running.sees(command("versions"))).toMatchObject({
      versions: [{}, { sources: [{}, { sourceId: "tours", keptSince: since, records: 1 }, {}] }]
    })
    expect(yield* running.sees(command("rollback"))).not.toMatchObject({ kept: expect.anything() })
    yield* running.pass("1 second")
    tours.set("none")
    expect(yield* running.fetch).not.toMatchObject({ kept: expect.anything() })
    expect(yield* running.sees(command("resume"))).not.toMatchObject({ kept: expect.anything() })
    yield* running.stop
  }
)

scenario(
  "a source that works again with the same content is old nowhere, and a source that fails since is",
  function* (world) {
    const [objects, tours] = world
    const running = yield* begin(world)
    tours.set("permanent")
    objects.edit()
    yield* running.fetch
    tours.set("none")
    yield* running.fetch
    const isOldNowhere = Effect.gen(function* () {
      const { versions } = yield* running.sees(Undo.versions)
      expect(versions.at(-1)?.sources).toMatchObject([{}, { sourceId: "tours" }, {}])
      expect(versions.at(-1)?.sources?.[1]).not.toMatchObject({ keptSince: expect.anything() })
      expect((yield* running.sees(contentState)).kept).toBeUndefined()
      expect(yield* running.sees(command("diff"))).not.toMatchObject({ kept: expect.anything() })
      expect(yield* running.sees(command("hold"))).not.toMatchObject({ kept: expect.anything() })
      expect(yield* running.sees(rowValue("Old content"))).toBeUndefined()
      yield* running.sees(command("resume"))
    })
    yield* isOldNowhere
    tours.set("permanent")
    yield* running.pass("1 minute")
    const since = (yield* running.sees(contentState)).sources.tours?.failing?.since
    const kept = [{ sourceId: "tours", since }]
    expect(since).toBeDefined()
    expect((yield* running.sees(contentState)).kept).toEqual(kept)
    expect((yield* running.sees(Undo.versions)).versions.at(-1)?.sources?.[1]?.keptSince).toBe(since)
    expect(yield* running.sees(command("diff"))).toMatchObject({ kept })
    expect(yield* running.sees(rowValue("Old content"))).toBeUndefined()
    tours.set("none")
    yield* running.fetch
    yield* isOldNowhere
    yield* running.stop
  }
)

scenario(
  "a held version keeps saying which of its sources are old, if newer content waits",
  function* (world) {
    const [objects, tours] = world
    const running = yield* begin(world)
    tours.set("permanent")
    objects.edit()
    yield* running.fetch
    const { since } = (yield* running.sees(contentState)).kept?.[0] ?? {}
    yield* running.sees(command("hold"))
    tours.edit()
    tours.set("none")
    yield* running.fetch
    expect(yield* running.sees(command("hold"))).toMatchObject({ kept: [{ sourceId: "tours", since }] })
    expect(yield* running.sees(rowValue("Old content"))).toContain(`"tours" is from before ${since}`)
    expect(yield* running.sees(command("resume"))).not.toMatchObject({ kept: expect.anything() })
    yield* running.stop
  }
)

it("the active version has the last content that each source gave, whatever fails", () =>
  assertHistories(step, (steps) => Effect.provide(history(steps), environment)))

const { constant, constantFrom, integer, oneof, record } = FastCheck
const index = integer({ min: 0, max: 2 })
const step = oneof(
  { weight: 4, arbitrary: record({ type: constant("edit" as const), index }) },
  {
    weight: 4,
    arbitrary: record({
      type: constant("set" as const),
      index,
      trouble: constantFrom<Trouble>("none", "none", "transient", "permanent", "rejected", "poll", "unknown")
    })
  },
  {
    weight: 4,
    arbitrary: record({ type: constant("pass" as const), seconds: integer({ min: 1, max: 240 }) })
  },
  { weight: 1, arbitrary: record({ type: constantFrom("fetch" as const, "restart" as const) }) }
)

const history = Effect.fnUntraced(function* (
  steps: ReadonlyArray<typeof step extends FastCheck.Arbitrary<infer A> ? A : never>
) {
  const world = yield* makeWorld
  let running = yield* begin(world)
  for (const step of steps) {
    switch (step.type) {
      case "edit":
        world[step.index]?.edit()
        break
      case "set":
        world[step.index]?.set(step.trouble)
        break
      case "pass":
        yield* running.pass(Duration.seconds(step.seconds))
        break
      case "fetch":
        yield* Effect.exit(running.fetch)
        break
      case "restart":
        yield* running.stop
        running = yield* begin(world)
    }
    expect(yield* active).toEqual(world.map(({ fetched }) => fetched()))
  }
  for (const source of world) source.set("none")
  yield* running.pass("15 minutes")
  expect(yield* active).toEqual(world.map(({ newest }) => newest()))
  expect(yield* running.sees(problems)).toEqual([])
  yield* running.stop
})
