import * as FileSystem from "@effect/platform/FileSystem"
import { describe, expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import { logTo } from "../../../src/layers/cli/terminal/log.ts"
import * as Content from "../../../src/layers/fetching/Content.ts"
import * as VersionStoreDisk from "../../../src/layers/versions/VersionStoreDisk.ts"
import { CommandBus } from "../../../src/services/CommandBus.ts"
import type { ContentSource } from "../../../src/services/ContentSource.ts"
import { ControllerState } from "../../../src/services/ControllerState.ts"
import { SourceError } from "../../../src/services/SourceError.ts"
import { VersionStore, VersionStoreError } from "../../../src/services/VersionStore.ts"
import {
  contentState,
  fetch,
  follow,
  lastFetchRow,
  names,
  readManifest,
  rowValue,
  services,
  sourceRows
} from "../../support/content.ts"
import { withJumpingClock } from "../../support/jumpingClock.ts"
import { withLog } from "../../support/logged.ts"
import { inController, inTask } from "../../support/scenario.ts"
import { mayMount, smallDisk } from "../../support/tmpfs.ts"
import { eventually, somebodySleeps } from "../../support/waiting.ts"

/** A source that saves `text`, or fails with `failure`, perhaps a transient one. It waits for `hold` meanwhile. */
const makeSource = (id: string) =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const text = yield* Ref.make("one")
    const failure = yield* Ref.make(Option.none<Error>())
    const isTransient = yield* Ref.make(false)
    const hold = yield* Ref.make<Effect.Effect<void>>(Effect.void)
    const fetches = yield* Ref.make(0)
    const source: ContentSource = {
      id,
      fetch: ({ directory, progress }) =>
        Effect.gen(function* () {
          yield* Ref.update(fetches, (n) => n + 1)
          const content = yield* Ref.get(text)
          yield* fs.writeFileString(`${directory}/text.txt`, content)
          yield* progress({ document: "text", documents: { done: 0, total: 1 }, records: 1 })
          yield* Effect.flatten(Ref.get(hold))
          yield* Option.match(yield* Ref.get(failure), { onNone: () => Effect.void, onSome: Effect.fail })
          return { fingerprint: content, records: 1, bytes: content.length }
        }).pipe(
          Effect.catchAll((cause) =>
            Effect.flatMap(
              Ref.get(isTransient),
              (isTransient) => new SourceError({ source: id, cause, isTransient })
            )
          )
        )
    }
    return { source, text, failure, isTransient, hold, fetches }
  })

describe("Content", () => {
  inTask("publishes the steps of a fetch in order, and announces the promoted version", function* () {
    const { source } = yield* makeSource("objects")
    yield* Content.fromSources({}, [source])
    const events = yield* follow
    const outcome = yield* fetch
    expect(outcome).toMatchObject({ changed: true, versionId: "19700101T000000Z", records: 1 })

    const told = yield* events.until("content:fetch:done")
    expect(names(told)).toEqual([
      "content:fetch:start",
      "content:source:start",
      "content:source:progress",
      "content:source:done",
      "content:version:promoted",
      "content:fetch:done"
    ])
    expect(told[0]?.payload).toEqual({ timestamp: "1970-01-01T00:00:00.000Z" })
    expect(told[4]?.payload).toEqual({
      versionId: "19700101T000000Z",
      versionPath: "versions/19700101T000000Z",
      generatedAt: "1970-01-01T00:00:00.000Z"
    })
    expect(told[5]?.payload).toEqual(outcome)
  })

  inTask("logs version, duration and records of a fetch as fields", function* () {
    const lines: Array<string> = []
    const { source } = yield* makeSource("objects")
    yield* Content.fromSources({}, [source])
    const { versionId } = Schema.decodeUnknownSync(Schema.Struct({ versionId: Schema.String }))(
      yield* fetch.pipe(logTo({ format: "json", write: (line) => lines.push(line) }))
    )
    expect(lines.map((line) => JSON.parse(line).annotations)).toEqual([
      { version: versionId, durationMs: expect.any(Number), records: 1 }
    ])
  })

  inTask("passes a source its folder in the active version, and publishes its counts", function* ({ fs }) {
    const before: Array<Option.Option<string>> = []
    const source: ContentSource = {
      id: "objects",
      fetch: ({ directory, previous }) =>
        Effect.gen(function* () {
          before.push(
            yield* Effect.transposeMapOption(previous, ({ directory }) => fs.readFileString(`${directory}/n`))
          )
          yield* fs.writeFileString(`${directory}/n`, String(before.length))
          const attachments = { total: 3, bytes: 30, reused: 1 }
          return { fingerprint: String(before.length), records: 1, bytes: 31, attachments }
        }).pipe(Effect.mapError((cause) => new SourceError({ source: "objects", cause })))
    }
    yield* Content.fromSources({}, [source])
    const events = yield* follow
    yield* fetch
    yield* fetch
    expect(before).toEqual([Option.none(), Option.some("1")])
    const done = (yield* events.until("content:fetch:done")).find(
      ({ name }) => name === "content:source:done"
    )
    expect(done?.payload).toEqual({
      timestamp: "1970-01-01T00:00:00.000Z",
      sourceId: "objects",
      records: 1,
      bytes: 31,
      attachments: { total: 3, bytes: 30, reused: 1 },
      durationMs: expect.any(Number)
    })
  })

  inTask("promotes and announces nothing when nothing has changed", function* () {
    const { source } = yield* makeSource("objects")
    yield* Content.fromSources({}, [source])
    yield* fetch
    const before = yield* readManifest
    const events = yield* follow
    expect(yield* fetch).toMatchObject({ changed: false })
    expect(names(yield* events.until("content:fetch:done"))).not.toContain("content:version:promoted")
    expect(yield* readManifest).toEqual(before)
  })

  inTask("keeps the active version when one source fails, and reports the reason", function* () {
    const good = yield* makeSource("objects")
    const bad = yield* makeSource("events")
    yield* Content.fromSources({}, [good.source, bad.source])
    yield* fetch
    const before = yield* readManifest

    yield* Ref.set(good.text, "two")
    yield* Ref.set(bad.failure, Option.some(new Error("the table is gone")))
    const events = yield* follow
    const error = yield* Effect.flip(fetch)
    expect(error.message).toContain('Source "events": the table is gone')

    const told = yield* events.until("content:fetch:error")
    expect(told.at(-1)?.payload).toMatchObject({
      error: { name: "SourceError", message: 'Source "events": the table is gone' }
    })
    expect(names(told)).toContain("content:source:error")
    expect(names(told)).not.toContain("content:version:promoted")
    expect(yield* readManifest).toEqual(before)
    expect(yield* lastFetchRow).toMatchObject({
      tone: "error",
      value: expect.stringMatching(/, failed: see its source below$/)
    })

    yield* Ref.set(bad.failure, Option.none())
    expect(yield* fetch).toMatchObject({ changed: true })
    expect(yield* lastFetchRow).toMatchObject({ tone: "ok" })
  })

  inTask("reports a defect of a source as a failed fetch", function* () {
    const { hold, source } = yield* makeSource("objects")
    yield* Ref.set(hold, Effect.die(new Error("a bug")))
    yield* Content.fromSources({}, [source])
    expect((yield* Effect.flip(fetch)).message).toContain('Source "objects": a bug')
  })

  inController(
    "continues to fetch after a defect, and after the manifest could not be read at the start",
    function* () {
      const { source } = yield* makeSource("objects")
      const store = yield* VersionStore
      const calls = yield* Ref.make(0)
      const flaky = VersionStore.of({
        ...store,
        manifest: new VersionStoreError({ action: "read", path: "manifest.json", detail: "broken" }),
        stage: Effect.flatMap(
          Ref.getAndUpdate(calls, (n) => n + 1),
          (call) => (call === 0 ? Effect.die(new Error("a bug")) : store.stage)
        )
      })
      const events = yield* follow
      const content = Content.fromSources({ fetchEvery: "10 minutes" }, [source])
      const { start } = yield* Effect.provideService(content, VersionStore, flaky)
      yield* start
      yield* events.until("content:fetch:start")
      yield* somebodySleeps
      yield* TestClock.adjust("10 minutes")
      yield* events.until("content:fetch:done")
    }
  )

  inTask("does not start a second fetch while one runs, but waits for the first", function* () {
    const { fetches, hold, source } = yield* makeSource("objects")
    const release = yield* Deferred.make<void>()
    yield* Ref.set(hold, Deferred.await(release))
    yield* Content.fromSources({}, [source])
    const events = yield* follow
    const first = yield* Effect.fork(fetch)
    yield* events.until("content:source:progress")
    const second = yield* Effect.fork(fetch)
    yield* Effect.yieldNow()
    yield* Deferred.succeed(release, undefined)
    expect(yield* Fiber.join(second)).toEqual(yield* Fiber.join(first))
    expect(yield* Ref.get(fetches)).toBe(1)
    yield* fetch
    expect(yield* Ref.get(fetches)).toBe(2)
  })

  inController("announces the active version when it starts, before it fetches", function* () {
    const { source } = yield* makeSource("objects")
    const { start } = yield* Content.fromSources({}, [source])
    yield* fetch
    const events = yield* follow
    yield* start
    expect(names(yield* events.until("content:fetch:done"))).toEqual([
      "content:version:promoted",
      "content:fetch:start",
      "content:source:start",
      "content:source:progress",
      "content:source:done",
      "content:fetch:done"
    ])
  })

  inController("fetches at the start and then every fetchEvery, even after failures", function* () {
    const { failure, fetches, source } = yield* makeSource("objects")
    const events = yield* follow
    const { start } = yield* Content.fromSources({ fetchEvery: "10 minutes" }, [source])
    yield* start
    yield* events.until("content:fetch:done")
    yield* Ref.set(failure, Option.some(new Error("no network")))
    yield* somebodySleeps
    yield* TestClock.adjust("599 seconds")
    expect(yield* Ref.get(fetches)).toBe(1)
    yield* TestClock.adjust("1 second")
    yield* events.until("content:fetch:error")
    yield* Ref.set(failure, Option.none())
    yield* somebodySleeps
    yield* TestClock.adjust("10 minutes")
    yield* events.until("content:fetch:done")
    expect(yield* Ref.get(fetches)).toBe(3)
  })

  inController("retries a fetch after a change, without fetchEvery, if a file was held open", function* () {
    const { fetches, source, text } = yield* makeSource("objects")
    const changes = yield* Queue.unbounded<void>()
    const store = yield* VersionStore
    const isHeld = yield* Ref.make(false)
    const held = new VersionStoreError({
      action: "write to",
      path: "versions",
      detail: "",
      isTransient: true
    })
    const flaky = VersionStore.of({
      ...store,
      stage: Effect.flatMap(Ref.get(isHeld), (isHeld) => (isHeld ? held : store.stage))
    })
    const events = yield* follow
    const content = Content.fromSources({}, [{ ...source, changes: Stream.fromQueue(changes) }])
    const { start } = yield* Effect.provideService(content, VersionStore, flaky)
    yield* start
    yield* events.until("content:fetch:done")
    yield* Ref.set(isHeld, true)
    yield* Ref.set(text, "two")
    yield* Queue.offer(changes, undefined)
    yield* events.until("content:fetch:error")
    yield* Ref.set(isHeld, false)
    yield* somebodySleeps
    yield* TestClock.adjust("15 seconds")
    yield* events.until("content:fetch:done")
    expect(yield* Ref.get(fetches)).toBe(2)
  })

  for (const [title, fetchEvery, pauses] of [
    ["up to fetchEvery", "1 minute", [15, 30, 60, 60]],
    ["up to five minutes where there is no fetchEvery", undefined, [15, 30, 60, 120, 240, 300, 300]]
  ] as const) {
    inController(`retries a fetch after a transient failure, with growing pauses, ${title}`, function* () {
      const { failure, fetches, isTransient, source } = yield* makeSource("objects")
      yield* Ref.set(failure, Option.some(new Error("no network")))
      yield* Ref.set(isTransient, true)
      const events = yield* follow
      const { start } = yield* Content.fromSources(fetchEvery === undefined ? {} : { fetchEvery }, [source])
      yield* start
      let failed = 0
      let at = 0
      for (const pause of pauses) {
        yield* events.until("content:fetch:error")
        failed++
        yield* somebodySleeps
        at += pause
        expect(yield* rowValue("Next fetch")).toBe(
          `${new Date(at * 1000).toISOString()}, a retry: what failed may pass by itself`
        )
        yield* TestClock.adjust(`${pause - 1} seconds`)
        expect(yield* Ref.get(fetches)).toBe(failed)
        yield* TestClock.adjust("1 second")
      }
      yield* events.until("content:fetch:error")
      yield* Ref.set(failure, Option.none())
      yield* somebodySleeps
      yield* TestClock.adjust("5 minutes")
      yield* events.until("content:fetch:done")
      if (fetchEvery !== undefined) {
        yield* somebodySleeps
      }
      yield* eventually(Effect.map(rowValue("Next fetch"), (value) => value?.includes("retry") === false))
      expect(yield* rowValue("Next fetch")).toBe(
        fetchEvery === undefined ? "none planned" : new Date((at + 300 + 60) * 1000).toISOString()
      )
    })
  }

  inController("does not retry a fetch after a permanent failure before the next one is due", function* () {
    const { failure, source } = yield* makeSource("objects")
    yield* Ref.set(failure, Option.some(new Error("the key is wrong")))
    const events = yield* follow
    const { start } = yield* Content.fromSources({}, [source])
    yield* start
    yield* events.until("content:fetch:error")
    yield* eventually(Effect.map(rowValue("Next fetch"), (value) => value !== "running now"))
    expect(yield* rowValue("Next fetch")).toBe("none planned")
    expect(Chunk.size(yield* TestClock.sleeps())).toBe(0)
  })

  inController(
    "shows in the status what every source does and did, and when the next fetch is",
    function* () {
      const { failure, hold, source } = yield* makeSource("objects")
      const release = yield* Deferred.make<void>()
      yield* Ref.set(hold, Deferred.await(release))
      const events = yield* follow
      const { start } = yield* Content.fromSources({ fetchEvery: "10 minutes" }, [source])
      yield* start
      yield* events.until("content:source:progress")
      expect(yield* sourceRows("objects")).toEqual([
        ["Now", "text, 1 record"],
        ["Last success", "none yet"]
      ])
      expect(yield* rowValue("Next fetch")).toBe("running now")
      expect((yield* contentState).sources.objects?.progress).toMatchObject({ document: "text", records: 1 })

      yield* Deferred.succeed(release, undefined)
      yield* events.until("content:fetch:done")
      yield* somebodySleeps
      expect(yield* rowValue("Next fetch")).toBe("1970-01-01T00:10:00.000Z")
      expect((yield* contentState).sources.objects?.progress).toBeUndefined()
      // As after a clock was set forward, or after a machine was asleep.
      const later = withJumpingClock(({ set }) => Effect.zipRight(set(11 * 60_000), rowValue("Next fetch")))
      expect(yield* later).toBe("1970-01-01T00:11:00.000Z")

      yield* Ref.set(failure, Option.some(new Error("no network")))
      yield* TestClock.adjust("10 minutes")
      yield* events.until("content:fetch:error")
      expect(yield* sourceRows("objects")).toEqual([
        ["Now", "idle"],
        ["Last success", "1970-01-01T00:00:00.000Z, 1 record, 3 bytes, in 0.0 s"],
        ["Last error", '1970-01-01T00:10:00.000Z, Source "objects": no network']
      ])
    }
  )

  it.scoped.skipIf(!mayMount)("removes versions that no screen shows from a full disk, once", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const disk = yield* smallDisk
      const log: Array<string> = []
      const size = yield* Ref.make(50_000)
      const fetches = yield* Ref.make(0)
      const source: ContentSource = {
        id: "objects",
        fetch: ({ directory }) =>
          Effect.gen(function* () {
            const fingerprint = String(yield* Ref.updateAndGet(fetches, (n) => n + 1))
            const content = fingerprint.repeat(yield* Ref.get(size))
            yield* fs.writeFileString(`${directory}/text.txt`, content)
            return { fingerprint, records: 1, bytes: content.length }
          }).pipe(Effect.mapError((cause) => new SourceError({ source: "objects", cause })))
      }
      const versions = Effect.flatMap(VersionStore, ({ versions }) => versions)
      yield* Effect.gen(function* () {
        yield* Content.fromSources({}, [source])
        yield* Effect.replicateEffect(fetch, 4)
        expect(yield* versions).toHaveLength(4)
        expect(yield* fetch).toMatchObject({ changed: true })
        expect(log).toContainEqual(
          expect.stringMatching(
            /^WARN The disk is full: removed versions that no screen shows \(\S+, \S+, \S+\), fetching once more\. Source "objects"/
          )
        )
        expect(yield* versions).toHaveLength(2)

        yield* Ref.set(size, 300_000)
        const before = yield* Ref.get(fetches)
        expect((yield* Effect.flip(fetch)).message).toContain('Source "objects"')
        expect(yield* Ref.get(fetches)).toBe(before + 2)
        yield* Effect.flip(fetch)
        expect(yield* Ref.get(fetches)).toBe(before + 3)
      }).pipe(
        Effect.provide(
          VersionStoreDisk.layer({ directory: disk.folder, keepVersions: 10, ackLease: "30 minutes" })
        ),
        withLog(log)
      )
    }).pipe(Effect.provide(services("task")))
  )

  it.scoped("warns once of each screen that cannot be listed, with its id and the reason", () => {
    const lines: Array<string> = []
    return Effect.gen(function* () {
      const { source } = yield* makeSource("objects")
      yield* Content.fromSources({}, [source])
      const { dispatch } = yield* CommandBus
      yield* fetch
      const versionId = "19700101T000000Z"
      for (const consumerId of ["Hall 1/left", "CON", "CON", "x".repeat(5000), "screen-1"]) {
        yield* Effect.exit(dispatch({ type: "content.ack", consumerId, versionId }))
      }
      const warnings = lines.filter((line) => line.startsWith("WARN "))
      expect(warnings).toEqual([
        expect.stringMatching(
          /^WARN A screen is not listed: The consumerId "Hall 1\/left" cannot .* "screen-1"\.$/
        ),
        expect.stringMatching(/^WARN A screen is not listed: The consumerId "CON" cannot be used/),
        expect.stringMatching(/^WARN A screen is not listed: The consumerId "x{200}/)
      ])
      expect(Math.max(...warnings.map(({ length }) => length))).toBeLessThan(400)
    }).pipe(withLog(lines), Effect.provide(services("task")))
  })

  inTask("keeps the version that a consumer acknowledged from being swept", function* () {
    const { source, text } = yield* makeSource("objects")
    yield* Content.fromSources({}, [source])
    const { dispatch } = yield* CommandBus
    yield* fetch
    const { state, status } = yield* ControllerState
    const versions = Effect.map(state, ({ plugins }) => Object(plugins.content).versions)
    const first = { versionId: "19700101T000000Z", active: true, isWaiting: false, isRead: false }
    expect(yield* versions).toEqual([{ ...first, leases: [] }])
    yield* dispatch({ type: "content.ack", consumerId: "screen-1", versionId: first.versionId })
    const lease = {
      consumerId: "screen-1",
      versionId: first.versionId,
      until: 1_800_000,
      heardAt: 0,
      isSilent: false
    }
    expect(yield* versions).toEqual([{ ...first, leases: [lease] }])
    for (const content of ["two", "three", "four"]) {
      yield* Ref.set(text, content)
      yield* fetch
    }
    expect((yield* versions)[0]).toEqual({ ...first, active: false, leases: [lease] })
    expect(JSON.stringify(yield* status)).toContain(
      '"screen-1","value":"showing version 19700101T000000Z, last report at 1970-01-01T00:00:00.000Z"'
    )
    yield* dispatch({
      type: "content.ack",
      consumerId: "screen-1",
      versionId: first.versionId,
      problem: "no film",
      renewMs: 60_000
    })
    const problem = "problem: no film, on version 19700101T000000Z"
    expect(JSON.stringify(yield* status)).toContain(problem)
    yield* TestClock.adjust("3 minutes")
    expect(JSON.stringify(yield* status)).not.toContain(problem)
    expect(JSON.stringify(yield* status)).toContain("silent, last report at 1970-01-01T00:00:00.000Z")
    const error = yield* Effect.flip(
      dispatch({ type: "content.ack", consumerId: "screen-1", versionId: "20990101T000000Z" })
    )
    expect(error.message).toContain('no version "20990101T000000Z" on disk')
  })
})
