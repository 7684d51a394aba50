/**
 * Content of a provider that can poll.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"
import * as Schedule from "effect/Schedule"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import * as Content from "../../../src/layers/fetching/Content.ts"
import { makeContent } from "../../../src/layers/fetching/makeContent.ts"
import type { PollResult } from "../../../src/layers/fetching/Provider.ts"
import { CommandBus } from "../../../src/services/CommandBus.ts"
import type { ContentSource } from "../../../src/services/ContentSource.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { EventBus } from "../../../src/services/EventBus.ts"
import { SourceError } from "../../../src/services/SourceError.ts"
import { VersionStore } from "../../../src/services/VersionStore.ts"
import { withAdvancingClock } from "../../../src/testing/advancingClock.ts"
import { contentState, follow, names, rowValue, services, servicesIn } from "../../support/content.ts"
import { withLog } from "../../support/logged.ts"
import { inController, inTask } from "../../support/scenario.ts"
import { eventually, somebodySleeps } from "../../support/waiting.ts"

const failed = (detail: string) => new SourceError({ source: "hub", cause: new Error(detail) })

const full = (file: string) =>
  new SourceError({
    source: "hub",
    cause: Object.assign(new Error(`Cannot write ${file}: the disk is full.`), { code: "ENOSPC" })
  })

/** Polls after each pause, with the result in `answer`. */
const setUpEvery = Effect.fnUntraced(function* (pause: Duration.DurationInput) {
  const store = yield* VersionStore
  const answer = yield* Ref.make<Effect.Effect<PollResult, SourceError>>(Effect.succeed("new"))
  const polls = yield* Ref.make(0)
  const fetches = yield* Ref.make(0)
  const events = yield* follow
  const { start } = yield* makeContent(
    {
      commands: true,
      name: "content",
      rules: { failingFor: "15 minutes" },
      schedule: Schedule.as(Schedule.spaced(pause), 0)
    },
    () =>
      Effect.succeed({
        sourceIds: [],
        poll: Effect.zipRight(
          Ref.update(polls, (n) => n + 1),
          Effect.flatten(Ref.get(answer))
        ),
        fetch: Effect.gen(function* () {
          const fingerprint = String(yield* Ref.updateAndGet(fetches, (n) => n + 1))
          const staged = yield* store.stage
          yield* staged.sourceDirectory("objects")
          return { ...(yield* staged.promote([{ sourceId: "objects", fingerprint }])), records: 3 }
        }).pipe(Effect.scoped),
        hub: Effect.map(Ref.get(polls), (polls) => ({
          copiedFrom: { url: "hub", versionId: `poll ${polls}` }
        }))
      })
  )
  const tick = Effect.gen(function* () {
    const before = yield* Ref.get(polls)
    yield* somebodySleeps
    yield* TestClock.adjust(pause)
    yield* eventually(Effect.map(Ref.get(polls), (polls) => polls > before))
    yield* somebodySleeps
  })
  return { answer, events, fetches: Ref.get(fetches), start, tick }
})

const setUp = setUpEvery("5 seconds")

const version = Effect.flatMap(ControllerState, ({ state }) => Effect.map(state, ({ _version }) => _version))

inTask("a fetch that ends unexpectedly is reported as a failed fetch", function* () {
  const { fetch } = yield* makeContent(
    {
      commands: false,
      name: "content",
      rules: { failingFor: "15 minutes" },
      schedule: Schedule.as(Schedule.stop, 0)
    },
    () => Effect.succeed({ sourceIds: [], fetch: Effect.die(new Error("no way")) })
  )
  yield* Effect.exit(fetch)
  const state = yield* contentState
  expect(state).not.toMatchObject({ fetchingSince: expect.anything() })
  expect(state.lastFetch).toMatchObject({ error: { message: "no way" } })
})

describe("content that polls before it fetches", () => {
  inController("fetches changes with events, and publishes nothing for a poll that finds none", function* () {
    const { answer, events, fetches, start, tick } = yield* setUp
    yield* start
    expect(names(yield* events.until("content:fetch:done"))).toEqual([
      "content:fetch:start",
      "content:version:promoted",
      "content:fetch:done"
    ])
    yield* Ref.set(answer, Effect.succeed("same"))
    yield* tick
    const before = yield* version
    yield* tick
    expect(yield* fetches).toBe(1)
    expect(yield* version).toBe(before)
    expect((yield* contentState).copiedFrom).toEqual({ url: "hub", versionId: "poll 3" })
    expect((yield* contentState).nextFetch).toEqual({ at: "1970-01-01T00:00:15.000Z", isRetry: false })
    yield* Ref.set(answer, Effect.succeed("new"))
    yield* tick
    // Events of the two polls in between would come first.
    expect(names(yield* events.until("content:fetch:done"))[0]).toBe("content:fetch:start")
    expect(yield* fetches).toBe(2)
  })

  inController("announces the active version again when the bus was reset", function* () {
    const bus = yield* EventBus
    const emptied = yield* Queue.unbounded<void>()
    yield* Effect.gen(function* () {
      const { events, start } = yield* setUp
      yield* start
      const promotion = (yield* events.until("content:fetch:done")).slice(1, 2)
      expect(names(promotion)).toEqual(["content:version:promoted"])
      yield* Queue.offer(emptied, undefined)
      const again = yield* events.until("content:version:promoted")
      expect(again.map(({ payload }) => payload)).toEqual(promotion.map(({ payload }) => payload))
    }).pipe(Effect.provideService(EventBus, { ...bus, emptied: Stream.fromQueue(emptied) }))
  })

  it.scoped("reports a poll that fails as a failed fetch, once, and fetches when it works again", () => {
    const log: Array<string> = []
    return Effect.gen(function* () {
      const { answer, events, fetches, start, tick } = yield* setUp
      yield* start
      yield* events.until("content:fetch:done")
      yield* Ref.set(answer, failed("no way"))
      yield* tick
      expect(names(yield* events.until("content:fetch:error"))).toEqual([
        "content:fetch:start",
        "content:fetch:error"
      ])
      yield* tick
      const before = yield* version
      yield* tick
      expect(yield* version).toBe(before)
      yield* Ref.set(answer, full("a.jpg"))
      yield* tick
      const [start2, error] = yield* events.until("content:fetch:error")
      expect(start2?.payload).toEqual({ timestamp: "1970-01-01T00:00:20.000Z" })
      const message = 'Source "hub": Cannot write a.jpg: the disk is full.'
      expect(error?.payload).toMatchObject({ error: { message } })
      expect(log.filter((line) => line.startsWith("WARN"))).toEqual([
        'WARN Fetch failed, content stays as it is. Source "hub": no way',
        `WARN Fetch failed, content stays as it is. ${message}`
      ])
      expect(yield* fetches).toBe(1)
      expect(yield* rowValue("Last fetch")).toContain("failed: ")
      yield* Ref.set(answer, Effect.succeed("same"))
      yield* tick
      yield* events.until("content:fetch:done")
      yield* tick
      expect(yield* fetches).toBe(2)
      expect(yield* rowValue("Last fetch")).toContain("3 records")
    }).pipe(Effect.provide(services("persistent")), withLog(log))
  })

  it.scoped("logs each kind of failure once until it is over, even if several alternate", () => {
    const log: Array<string> = []
    const warnings = () => log.filter((line) => line.startsWith("WARN"))
    return Effect.gen(function* () {
      const { answer, events, start, tick } = yield* setUp
      yield* start
      yield* events.until("content:fetch:done")
      for (const failure of [
        full("a.jpg"),
        full("b.jpg"),
        failed("no way"),
        full("a.jpg"),
        failed("no way")
      ]) {
        yield* Ref.set(answer, failure)
        yield* tick
        yield* events.until("content:fetch:error")
        expect(yield* rowValue("Last fetch")).toContain(failure.message)
      }
      yield* tick
      const both = [
        'WARN Fetch failed, content stays as it is. Source "hub": Cannot write a.jpg: the disk is full.',
        'WARN Fetch failed, content stays as it is. Source "hub": no way'
      ]
      expect(warnings()).toEqual(both)
      yield* Ref.set(answer, Effect.succeed("same"))
      yield* tick
      yield* events.until("content:fetch:done")
      expect(log.filter((line) => line.includes("failures"))).toEqual([
        expect.stringMatching(/^INFO New version .* after 6 failures$/)
      ])
      yield* Ref.set(answer, failed("no way"))
      yield* tick
      yield* events.until("content:fetch:error")
      expect(warnings()).toEqual([...both, both[1]])
    }).pipe(Effect.provide(services("persistent")), withLog(log))
  })

  inController("does nothing while nobody can tell what is new, even after a failure", function* () {
    const { answer, fetches, start, tick } = yield* setUp
    yield* Ref.set(answer, failed("no way"))
    yield* start
    yield* Ref.set(answer, Effect.succeed({ reason: "as the test wants it" }))
    yield* tick
    yield* tick
    expect(yield* fetches).toBe(0)
  })

  const inFolder = <A, E, R>(test: (folder: string) => Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const folder = yield* fs.makeTempDirectoryScoped()
      return yield* Effect.provide(test(folder), servicesIn(folder, "persistent"))
    }).pipe(Effect.provide(NodeContext.layer))

  it.scoped.each([
    ["nothing is new", Effect.succeed<PollResult>("same")],
    ["nobody can tell what is new", Effect.succeed<PollResult>({ reason: "as the test wants it" })],
    ["polls fail", failed("no way")]
  ] as const)("removes expired leases while %s", ([_, found]) =>
    inFolder((folder) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const { dispatch } = yield* CommandBus
        const { answer, events, start } = yield* setUpEvery("1 minute")
        yield* start
        const [promoted] = (yield* events.until("content:fetch:done")).slice(1)
        const { versionId } = Object(promoted?.payload)
        const before = yield* version
        yield* dispatch({ type: "content.ack", consumerId: "screen-1", versionId })
        expect(yield* version).toBe(before)
        yield* Ref.set(answer, found)
        const isThere = fs.exists(`${folder}/acks/screen-1.json`)
        yield* withAdvancingClock(Effect.sleep("29 minutes"))
        expect(yield* isThere).toBe(true)
        yield* withAdvancingClock(Effect.sleep("7 minutes"))
        expect(yield* isThere).toBe(false)
      })
    )
  )

  it.scoped("restores a manifest that is lost while polls fail, and announces its version", () =>
    inFolder((folder) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const store = yield* VersionStore
        const { answer, events, start } = yield* setUp
        const until = (name: string) =>
          Effect.map(withAdvancingClock(events.until(name)), ({ value }) => value)
        yield* start
        const [first] = (yield* until("content:fetch:done")).slice(1)
        const [second] = (yield* until("content:fetch:done")).slice(1)
        const { dispatch } = yield* CommandBus
        yield* dispatch({ type: "content.rollback" })
        expect((yield* until("content:version:promoted")).at(-1)?.payload).toEqual(first?.payload)
        yield* Ref.set(answer, failed("no way"))
        yield* until("content:fetch:error")
        yield* fs.remove(`${folder}/manifest.json`)
        expect((yield* until("content:version:promoted")).at(-1)?.payload).toEqual(second?.payload)
        const { versionId } = Object(second?.payload)
        expect(yield* store.manifest).toMatchObject({ status: "ok", manifest: { versionId } })
      })
    )
  )
})

it.scoped("a content whose version is on disk has it before it starts: other plugins may take long", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const run = Effect.provide(servicesIn(yield* fs.makeTempDirectoryScoped(), "persistent"))
    const source: ContentSource = {
      id: "hub",
      fetch: () => Effect.succeed({ fingerprint: "one", records: 0, bytes: 0 })
    }
    const content = Content.fromSources({}, [source])
    const { versionId } = yield* Effect.flatMap(content, ({ fetch }) => fetch).pipe(Effect.scoped, run)
    const state = yield* Effect.zipRight(
      content,
      Effect.flatMap(ControllerState, ({ state }) => state)
    ).pipe(Effect.scoped, run)
    expect(state.plugins.content).toMatchObject({ versionId })
    expect(state.problems).toEqual([])
  }).pipe(Effect.provide(NodeContext.layer))
)
