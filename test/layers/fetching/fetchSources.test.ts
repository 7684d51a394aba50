/**
 * Sources with a poll. docs/content.md, Airtable, says what users are promised.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
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
import * as Content from "../../../src/layers/fetching/Content.ts"
import * as CommandBusMemory from "../../../src/layers/memory/CommandBusMemory.ts"
import * as EventBusMemory from "../../../src/layers/memory/EventBusMemory.ts"
import type { ContentSource } from "../../../src/services/ContentSource.ts"
import { SourceError } from "../../../src/services/SourceError.ts"
import { VersionStore } from "../../../src/services/VersionStore.ts"
import { fetch, rowValue, temporaryStore } from "../../support/content.ts"
import { assertHistories } from "../../support/histories.ts"
import { withJumpingClock } from "../../support/jumpingClock.ts"
import { withLog } from "../../support/logged.ts"
import { scenarios } from "../../support/scenario.ts"
import { eventLoopTurn, somebodySleeps } from "../../support/waiting.ts"

const environment = temporaryStore.pipe(
  Layer.merge(EventBusMemory.layer),
  Layer.provideMerge(NodeContext.layer)
)

const scenario = scenarios(
  Layer.mergeAll(environment, CommandBusMemory.layer, ControllerStateMemory.layer("persistent")),
  Effect.all({ fs: FileSystem.FileSystem })
)

const parts = ["A", "B"] as const
type Part = (typeof parts)[number]

/** How long a poll takes, and how long a part takes to read. */
const pollMillis = 50
const partMillis = 200

/** Polls, reads and promotions, in order, with the content at that moment. */
type Happened =
  | { readonly type: "poll"; readonly content: string; readonly fails: boolean }
  | { readonly type: "read"; readonly at: number }
  | { readonly type: "readFailed"; readonly at: number; readonly kind: "transient" | "permanent" }
  | { readonly type: "started" | "edited" | "told" }
  | { readonly type: "promoted"; readonly content: string; readonly changed: boolean; readonly at: number }

/** A source of two parts that somebody edits, with a log of its changes. */
const makeWorld = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const revisions = { A: 0, B: 0 }
  const log: Array<Part> = []
  const failingPolls: Array<"transient" | "permanent"> = []
  const failingReads: Array<"transient" | "permanent"> = []
  /** All polls, reads and promotions, in order. */
  const journal: Array<Happened> = []
  const counts = { polls: 0, reads: 0, parts: 0, failures: 0 }

  const failIfTold = (failing: typeof failingPolls) =>
    Effect.suspend(() => {
      const kind = failing.shift()
      if (kind === undefined) return Effect.void
      counts.failures++
      return new SourceError({
        source: "objects",
        cause: new Error(kind),
        isTransient: kind === "transient"
      })
    })

  const newest = () => parts.map((part) => `${part}${revisions[part]}`).join()

  const source: ContentSource = {
    id: "objects",
    poll: (cursor) =>
      Effect.gen(function* () {
        counts.polls++
        journal.push({ type: "poll", content: newest(), fails: failingPolls.length > 0 })
        yield* failIfTold(failingPolls)
        const changes = {
          cursor: String(log.length),
          changed: Option.match(cursor, {
            onNone: () => "everything" as const,
            onSome: (cursor) => (log.length > Number(cursor) ? ("everything" as const) : ("nothing" as const))
          })
        }
        yield* Effect.sleep(pollMillis)
        return changes
      }),
    fetch: ({ directory }) =>
      Effect.gen(function* () {
        counts.reads++
        const at = yield* Clock.currentTimeMillis
        journal.push({ type: "read", at })
        const contents: Array<string> = []
        for (const part of parts) {
          const file = `${directory}/${part}`
          counts.parts++
          yield* Effect.orDie(fs.writeFileString(file, `${part}${revisions[part]}`))
          yield* Effect.sleep(partMillis)
          contents.push(yield* Effect.orDie(fs.readFileString(file)))
        }
        const [kind] = failingReads
        if (kind !== undefined) {
          journal.push({ type: "readFailed", at: yield* Clock.currentTimeMillis, kind })
        }
        yield* failIfTold(failingReads)
        return { fingerprint: contents.join(), records: 2, bytes: 4 }
      })
  }

  return {
    source,
    counts,
    failingPolls,
    failingReads,
    journal,
    edit: (part: Part) => {
      revisions[part]++
      log.push(part)
      journal.push({ type: "edited" })
    },
    newest
  }
})

/** The content of the latest version. */
const latest = Effect.flatMap(VersionStore, ({ stage }) => stage).pipe(
  Effect.map(({ previous }) =>
    Option.getOrUndefined(Option.flatMap(previous("objects"), ({ fingerprint }) => fingerprint))
  ),
  Effect.scoped
)

const services = () => Layer.merge(CommandBusMemory.layer, ControllerStateMemory.layer("persistent"))

/** Lets time pass, and everything run that is due. */
const pass = (duration: Duration.DurationInput) =>
  Effect.gen(function* () {
    const end = (yield* Clock.currentTimeMillis) + Duration.toMillis(duration)
    while (true) {
      yield* somebodySleeps
      const next = Math.min(...Chunk.toReadonlyArray(yield* TestClock.sleeps()))
      yield* TestClock.setTime(Math.min(next, end))
      yield* eventLoopTurn
      if (next > end) return
    }
  })

describe("sources with a poll", () => {
  const setUp = (options: Parameters<typeof Content.fromSources>[0]) =>
    Effect.gen(function* () {
      const world = yield* makeWorld
      const { start } = yield* Content.fromSources({ fetchEvery: "1 second", ...options }, [world.source])
      yield* start
      yield* pass("1 second")
      return world
    })

  scenario("are read at the start, and then only if they have changed", function* () {
    const { counts, edit, newest } = yield* setUp({})
    expect(yield* latest).toBe("A0,B0")
    yield* pass("10 seconds")
    expect(counts).toMatchObject({ reads: 1, parts: 2 })
    edit("B")
    yield* pass(1000 + 2 * pollMillis + 2 * partMillis)
    expect(yield* latest).toBe(newest())
    expect(counts).toMatchObject({ reads: 2, parts: 4 })
  })

  scenario("make one version of continuing changes, and wait no longer than settle", function* () {
    const { counts, edit, newest } = yield* setUp({ settle: "5 seconds" })
    const { versions } = yield* VersionStore
    yield* Effect.forEach(Array.from({ length: 10 }), () =>
      Effect.zipRight(
        Effect.sync(() => edit("A")),
        pass(200)
      )
    )
    yield* pass("3 seconds")
    expect(yield* latest).toBe(newest())
    expect(yield* versions).toHaveLength(2)
    const { reads } = counts
    yield* Effect.forEach(Array.from({ length: 30 }), () =>
      Effect.zipRight(
        Effect.sync(() => edit("A")),
        pass(300)
      )
    )
    const shown = yield* latest
    expect(shown).not.toBe("A10,B0")
    expect(counts.reads - reads).toBeLessThan(6)
  })

  scenario("wait no longer than settle if the clock is set back meanwhile", function* () {
    const clock = yield* Effect.clock
    const passes = (millis: number) => Effect.withClock(pass(millis), clock)
    yield* withJumpingClock(({ set }) =>
      Effect.gen(function* () {
        const { edit, source } = yield* makeWorld
        const { start } = yield* Content.fromSources({ fetchEvery: "1 second", settle: "5 seconds" }, [
          source
        ])
        yield* start
        yield* passes(1000)
        for (let edits = 0; edits < 40; edits++) {
          edit("A")
          yield* passes(300)
          if (edits === 8) yield* set(-3_600_000)
        }
        expect(yield* latest).not.toBe("A0,B0")
      })
    )
  })

  scenario("make a version without waiting if settle is 0", function* () {
    const { counts, edit } = yield* setUp({ settle: 0 })
    edit("A")
    yield* pass(1000 + pollMillis + partMillis)
    expect(yield* latest).toBe("A1,B0")
    expect(counts.polls).toBeLessThan(4)
  })

  scenario("find a change that is made while they are read", function* () {
    const { counts, edit, newest } = yield* setUp({ settle: 0 })
    edit("B")
    yield* Effect.repeat(pass(50), { until: () => counts.parts === 3 })
    edit("B")
    yield* pass("2 seconds")
    expect(yield* latest).toBe(newest())
  })

  it.scoped("are not read again at every poll after a failure, but after a change or some time", () => {
    const log: Array<string> = []
    return Effect.gen(function* () {
      const { counts, edit, failingReads, newest } = yield* setUp({ fetchEvery: "20 seconds" })
      failingReads.push("permanent", "permanent", "transient")
      edit("A")
      yield* pass("1 minute")
      expect(counts.reads).toBe(2)
      expect(yield* rowValue("Last fetch")).toContain("failed: ")
      edit("B")
      yield* pass("1 minute")
      expect(counts.reads).toBe(3)
      yield* pass("10 minutes")
      // The transient failure, and the edit a tick later.
      expect(counts.reads).toBe(5)
      expect(yield* latest).toBe(newest())
      expect(log.filter((line) => line.startsWith("WARN"))).toHaveLength(2)
    }).pipe(Effect.provide(services()), Effect.provide(environment), withLog(log))
  })

  it.scoped.each([
    ["permanent", 1 + 1],
    // After 15 seconds, 30 seconds, 1 minute, 2 and 4.
    ["transient", 1 + 5]
  ] as const)(
    "are read at long intervals after a %s failure, although they are polled at every tick",
    ([kind, reads]) =>
      Effect.gen(function* () {
        const { counts, edit, failingReads, newest } = yield* setUp({ fetchEvery: "10 seconds", settle: 0 })
        failingReads.push(...Array.from({ length: 100 }, () => kind))
        edit("A")
        yield* pass("12 minutes")
        expect(counts.reads - 1).toBe(reads)
        expect(counts.polls).toBeGreaterThan(60)
        failingReads.length = 0
        edit("B")
        yield* pass("15 seconds")
        expect(yield* latest).toBe(newest())
      }).pipe(Effect.provide(services()), Effect.provide(environment), withLog([]))
  )

  it.scoped("are not read again at every tick if another source without a poll fails", () =>
    Effect.gen(function* () {
      const asked = yield* makeWorld
      const other = yield* makeWorld
      const { poll, ...unasked } = other.source
      const { start } = yield* Content.fromSources({ fetchEvery: "10 seconds", settle: 0 }, [
        asked.source,
        { ...unasked, id: "others" }
      ])
      yield* start
      yield* pass("30 seconds")
      expect(asked.counts.reads).toBe(1)
      other.failingReads.push(...Array.from({ length: 100 }, () => "permanent" as const))
      asked.edit("A")
      yield* pass("5 minutes")
      expect(asked.counts.reads).toBe(2)
      other.failingReads.length = 0
      yield* pass("6 minutes")
      expect(yield* latest).toBe(asked.newest())
    }).pipe(Effect.provide(services()), Effect.provide(environment), withLog([]))
  )

  scenario("are all read by the command, and if the manifest is gone", function* () {
    const { counts } = yield* setUp({})
    yield* Effect.fork(fetch)
    yield* pass("6 seconds")
    expect(counts).toMatchObject({ reads: 2, parts: 4 })
  })

  scenario("are read only if they have changed, and at every tick if they have no poll", function* () {
    const asked = yield* makeWorld
    const other = yield* makeWorld
    const { poll, ...unasked } = other.source
    const { start } = yield* Content.fromSources({ fetchEvery: "1 second" }, [
      asked.source,
      { ...unasked, id: "others" }
    ])
    yield* start
    yield* pass("10 seconds")
    expect(asked.counts.reads).toBe(1)
    expect(other.counts.reads).toBeGreaterThan(4)
    other.edit("A")
    yield* pass("3 seconds")
    expect(yield* rowValue("Last fetch")).toContain("4 records")
  })

  it("end with the newest content in one version, within the allowed number of polls and reads", () =>
    assertHistories(step, (steps) => Effect.provide(history(steps), environment), examples))
})

type Step =
  | { readonly type: "edit"; readonly part: Part }
  | { readonly type: "pass"; readonly millis: number }
  | { readonly type: "failLook" | "failRead"; readonly kind: "transient" | "permanent" }
  | { readonly type: "fetchAndEdit"; readonly millis: number; readonly part: Part }
  | { readonly type: "restart" }

const { constant, constantFrom, integer, oneof, record } = FastCheck
const kind = constantFrom("transient" as const, "permanent" as const)
const passing = (max: number) => record({ type: constant("pass" as const), millis: integer({ min: 0, max }) })
const step: FastCheck.Arbitrary<Step> = oneof(
  { weight: 6, arbitrary: record({ type: constant("edit" as const), part: constantFrom(...parts) }) },
  // Within a poll or a read, or beyond several ticks.
  { weight: 5, arbitrary: passing(3 * partMillis) },
  { weight: 4, arbitrary: passing(25_000) },
  { weight: 2, arbitrary: record({ type: constantFrom("failLook" as const, "failRead" as const), kind }) },
  { weight: 1, arbitrary: record({ type: constant("restart" as const) }) },
  {
    weight: 2,
    arbitrary: record({
      type: constant("fetchAndEdit" as const),
      millis: integer({ min: 0, max: 3 * partMillis }),
      part: constantFrom(...parts)
    })
  }
)

/** An edit of a part that was read already, and failed reads that are retried. */
const examples: ReadonlyArray<ReadonlyArray<Step>> = [
  [
    { type: "pass", millis: 2000 },
    { type: "fetchAndEdit", millis: pollMillis + partMillis + 10, part: "A" }
  ],
  // A command that may overtake the fetch of the start.
  [
    { type: "failRead", kind: "transient" },
    { type: "fetchAndEdit", millis: pollMillis + 2 * partMillis - 1, part: "A" }
  ],
  ...(["transient", "permanent"] as const).map(
    (kind): ReadonlyArray<Step> => [
      { type: "pass", millis: 2000 },
      { type: "failRead", kind },
      { type: "edit", part: "A" }
    ]
  )
]

const tick = 20_000
const settle = 3000

/** The pause before a failed read is retried, unless something changes or somebody asks for it. */
const pauses = { transient: 15_000, permanent: 600_000 }

const history = (steps: ReadonlyArray<Step>) =>
  Effect.gen(function* () {
    const world = yield* makeWorld
    const { journal } = world
    let edits = 0
    let starts = 0
    let commands = 0

    /** The store of versions; it also notes promotions in the journal. */
    const store = Effect.map(VersionStore, (store) =>
      VersionStore.of({
        ...store,
        stage: Effect.map(store.stage, (staged) => ({
          ...staged,
          promote: (sources) =>
            Effect.tap(staged.promote(sources), ({ changed }) =>
              Effect.map(Clock.currentTimeMillis, (at) => {
                for (const { fingerprint: content } of sources) {
                  journal.push({ type: "promoted", content, changed, at })
                }
              })
            )
        }))
      })
    )

    const begin = Effect.gen(function* () {
      starts++
      journal.push({ type: "started" })
      const scope = yield* Scope.make()
      const { fetch, start } = yield* Content.fromSources({ fetchEvery: tick, settle }, [world.source]).pipe(
        Scope.extend(scope),
        Effect.provideServiceEffect(VersionStore, store),
        Effect.provide(services())
      )
      yield* start
      return { fetch: Effect.forkIn(Effect.ignore(fetch), scope), stop: Scope.close(scope, Exit.void) }
    })

    let running = yield* begin
    for (const step of steps) {
      switch (step.type) {
        case "edit":
          edits++
          world.edit(step.part)
          break
        case "pass":
          yield* pass(step.millis)
          break
        case "failLook":
          world.failingPolls.push(step.kind)
          break
        case "failRead":
          world.failingReads.push(step.kind)
          break
        case "fetchAndEdit":
          commands++
          journal.push({ type: "told" })
          yield* running.fetch
          yield* pass(step.millis)
          edits++
          world.edit(step.part)
          break
        case "restart":
          yield* running.stop
          running = yield* begin
      }
    }
    yield* pass(2 * tick)
    world.failingPolls.length = 0
    world.failingReads.length = 0
    yield* pass("11 minutes")
    yield* running.stop

    expect(yield* latest).toBe(world.newest())
    expect(promotedIn(journal).filter((content) => content === world.newest())).toHaveLength(1)
    const { failures, polls, reads } = world.counts
    const ticks = Math.ceil((yield* Clock.currentTimeMillis) / tick) + starts
    expect(reads).toBeLessThanOrEqual(starts + edits + failures + commands)
    expect(polls).toBeLessThanOrEqual(ticks + 2 * edits + failures + starts + commands)
  })

/**
 * The contents of the versions; no content comes twice. Changes that continue are waited for, up to `settle`, and
 * failed reads are not retried too soon.
 */
const promotedIn = (journal: ReadonlyArray<Happened>): ReadonlyArray<string> => {
  const versions: Array<string> = []
  let since: number | undefined
  let isSettled = (_content: string): boolean => false
  let isSeen = true
  let isTold = true
  // Fetches of a start or a command that may still wait for the read that runs.
  let waiting = 0
  let readFrom = 0
  for (const happened of journal) {
    switch (happened.type) {
      case "read": {
        const { at } = happened
        const isWanted = isTold
        if (at < readFrom) expect(waiting--, `a read at ${at}, before ${readFrom}`).toBeGreaterThan(0)
        since ??= at
        isSettled = () => isWanted
        break
      }
      case "poll": {
        const { content: seen, fails } = happened
        const before = isSettled
        isSettled = (content) => before(content) || fails || content === seen
        isSeen ||= !fails
        break
      }
      case "promoted": {
        const { at, changed, content } = happened
        if (changed) {
          expect(isSettled(content) || at - (since ?? at) >= settle, content).toBe(true)
          versions.push(content)
        }
        since = undefined
        isTold = false
        waiting = 0
        break
      }
      case "readFailed":
        since = undefined
        readFrom = isSeen ? happened.at + pauses[happened.kind] : 0
        break
      case "started":
        since = undefined
        isTold = true
        waiting++
        readFrom = 0
        break
      default:
        isSeen &&= happened.type === "told"
        isTold ||= happened.type === "told"
        waiting += Number(happened.type === "told")
        readFrom = 0
    }
  }
  expect(versions).toEqual([...new Set(versions)])
  return versions
}
