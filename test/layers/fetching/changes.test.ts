/**
 * Sources that report changes themselves, need their own services, and name the keys of their records.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { describe, expect, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { changesSince } from "../../../src/layers/documents/DocumentSource.ts"
import * as Content from "../../../src/layers/fetching/Content.ts"
import * as RequestPacingMemory from "../../../src/layers/memory/RequestPacingMemory.ts"
import { source } from "../../../src/layers/sources/function/source.ts"
import { CommandBus } from "../../../src/services/CommandBus.ts"
import { ContentDiff } from "../../../src/services/ContentDiff.ts"
import type {
  ContentSource,
  ContentSourceDefinition,
  FetchedSource,
  SourceChanges
} from "../../../src/services/ContentSource.ts"
import { withAdvancingClock } from "../../../src/testing/advancingClock.ts"
import { contentState, fetch, follow, services } from "../../support/content.ts"
import { eventLoopTurn } from "../../support/waiting.ts"

const environment = (mode: "task" | "persistent") =>
  Layer.mergeAll(services(mode), NodeHttpClient.layer, RequestPacingMemory.layer)

class Archive extends Context.Tag("Archive")<Archive, { readonly read: Effect.Effect<string> }>() {}

const archiveSource: ContentSourceDefinition<Archive> = {
  id: "archive",
  issues: [],
  make: Effect.gen(function* () {
    const { read } = yield* Archive
    const fileSystem = yield* FileSystem.FileSystem
    return {
      id: "archive",
      fetch: ({ directory }) =>
        Effect.gen(function* () {
          const fingerprint = yield* read
          yield* Effect.orDie(fileSystem.writeFileString(`${directory}/a.txt`, fingerprint))
          return { fingerprint, records: 1, bytes: 1 }
        })
    } satisfies ContentSource
  })
}

describe("a source", () => {
  it.scoped("may need services of its own", () =>
    Effect.gen(function* () {
      const { fetch } = yield* Effect.provideService(Content.make({ sources: [archiveSource] }), Archive, {
        read: Effect.succeed("1")
      })
      expect(yield* fetch).toMatchObject({ changed: true })
    }).pipe(Effect.provide(environment("task")))
  )

  it.scoped("that cannot be made fails with its own error and its id", () =>
    Effect.gen(function* () {
      const broken = { id: "archive", issues: [], make: Effect.fail(new Error("the archive is locked")) }
      const error = yield* Effect.flip(Content.make({ sources: [broken] }))
      expect(error.message).toBe('Source "archive": the archive is locked')
    }).pipe(Effect.provide(environment("task")))
  )

  it.scoped("that returns something else than a fetch returns is named with the mistake", () =>
    Effect.gen(function* () {
      const result: FetchedSource = { fingerprint: "1", records: 0, bytes: 1 }
      Reflect.deleteProperty(result, "bytes")
      const { fetch } = yield* Content.fromSources({}, [
        { id: "archive", fetch: () => Effect.succeed(result) }
      ])
      const error = yield* Effect.flip(fetch)
      expect(error.message).toBe(
        'Source "archive": its function "fetch" returned something else than expected. bytes: is required'
      )
    }).pipe(Effect.provide(environment("task")))
  )

  it.scoped("is fetched at once when it reports a change, even if no fetch is due", () =>
    Effect.gen(function* () {
      const changes = yield* Queue.unbounded<void>()
      let content = 1
      const changing: ContentSourceDefinition = {
        id: "folder",
        issues: [],
        make: Effect.map(FileSystem.FileSystem, (fileSystem) => ({
          id: "folder",
          changes: Stream.fromQueue(changes),
          poll: (before: Option.Option<string>) => {
            const cursor = String(content)
            return Effect.succeed({
              cursor,
              changed: Option.contains(before, cursor) ? ("nothing" as const) : ("everything" as const)
            })
          },
          fetch: ({ directory }) =>
            Effect.orDie(fileSystem.writeFileString(`${directory}/a.txt`, String(content))).pipe(
              Effect.map(() => ({ fingerprint: String(content), records: 1, bytes: 1 }))
            )
        }))
      }
      const { until } = yield* follow
      const { start } = yield* Content.make({ sources: [changing], settle: 0 })
      yield* start
      yield* until("content:version:promoted")
      content = 2
      yield* changes.offer(undefined)
      const [promoted] = (yield* until("content:version:promoted")).slice(-1)
      expect(promoted?.payload).toMatchObject({ versionId: expect.stringMatching(/-01$/) })
    }).pipe(Effect.provide(environment("persistent")))
  )

  it.scoped.each([
    ["while anything is written", false, 5],
    ["while a file only grows", true, 60]
  ] as const)(
    "that cannot tell what is new is asked again, and is a problem later: %s",
    ([_, isGrowing, minutes]) =>
      Effect.gen(function* () {
        let answer: SourceChanges["changed"] | undefined
        let polls = 0
        let fetches = 0
        const { start } = yield* Content.fromSources({ fetchEvery: "1 minute", settle: 0 }, [
          {
            id: "folder",
            poll: (before) => {
              polls++
              return Effect.succeed({ ...changesSince(before, "1"), ...(answer && { changed: answer }) })
            },
            fetch: () => Effect.succeed({ fingerprint: String(++fetches), records: 1, bytes: 1 })
          }
        ])
        const data = Effect.map(contentState, ({ sources }) => sources.folder?.data)
        const pass = (minutes: number) => withAdvancingClock(Effect.sleep(`${minutes} minutes`))
        yield* start
        yield* pass(1.5)
        expect(yield* data).toBeUndefined()
        answer = { reason: "film.mp4: it is still being written.", isGrowing }
        polls = 0
        yield* pass(minutes)
        const since = "1970-01-01T00:02:00.000Z"
        expect(yield* data).toEqual({
          Changes: `not known since ${since}: film.mp4: it is still being written.`
        })
        expect([polls, fetches]).toEqual([minutes, 1])
        yield* pass(1)
        expect(yield* data).toEqual({
          problems: [
            {
              code: "source:unknown",
              severity: "warning",
              subject: "folder",
              text: `Source "folder": nobody can tell since ${since} whether it has changed, so it is not fetched: film.mp4: it is still being written.`,
              since
            }
          ]
        })
        answer = "everything"
        yield* pass(1)
        expect(yield* data).toBeUndefined()
        expect(fetches).toBe(2)
      }).pipe(Effect.provide(environment("persistent")))
  )

  it.scoped.each([
    ["with a poll", true],
    ["without a poll", false]
  ] as const)("%s is fetched again if it reports a change while a command fetches", ([_, canPoll]) =>
    Effect.gen(function* () {
      const changes = yield* Queue.unbounded<void>()
      const isRead = yield* Deferred.make<void>()
      const isSaved = yield* Deferred.make<void>()
      let afterRead: Effect.Effect<unknown> = Effect.void
      let content = 1
      const poll = (before: Option.Option<string>) => Effect.succeed(changesSince(before, String(content)))
      const { start } = yield* Content.fromSources({ settle: 0 }, [
        {
          id: "folder",
          changes: Stream.fromQueue(changes),
          fetch: () =>
            Effect.gen(function* () {
              const fingerprint = String(content)
              yield* afterRead
              return { fingerprint, records: 1, bytes: 1 }
            }),
          ...(canPoll ? { poll } : {})
        }
      ])
      const { until } = yield* follow
      yield* start
      yield* until("content:fetch:done")
      yield* fetch

      afterRead = Effect.zipRight(Deferred.succeed(isRead, undefined), Deferred.await(isSaved))
      const command = yield* Effect.fork(fetch)
      yield* Deferred.await(isRead)
      content = 2
      yield* changes.offer(undefined)
      yield* Effect.repeatN(eventLoopTurn, 10)
      yield* Deferred.succeed(isSaved, undefined)
      expect(yield* Fiber.join(command)).toMatchObject({ changed: false })
      yield* until("content:version:promoted")
    }).pipe(Effect.provide(environment("persistent")))
  )

  it.scoped("has keys of records, by which versions are compared", () =>
    Effect.gen(function* () {
      let title = "Opening"
      const events = source({
        id: "events",
        keys: { all: "slug" },
        fetch: () => ({ all: [{ id: title.length, slug: "opening", title }] })
      })
      yield* Content.make({ sources: [events] })
      yield* fetch
      title = "Grand opening"
      yield* fetch
      const { dispatch } = yield* CommandBus
      const { documents } = yield* Effect.flatMap(
        dispatch({ type: "content.diff" }),
        Schema.decodeUnknown(ContentDiff)
      )
      expect(documents).toMatchObject([{ added: 0, changed: 1, removed: 0, records: [{ id: "opening" }] }])
    }).pipe(Effect.provide(environment("task")))
  )
})
