/**
 * Several contents on one command bus, one event bus and one state.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import {
  CommandBus,
  Content,
  type ContentConfig,
  type ContentSource,
  Controller,
  ControllerServices,
  ControllerState,
  content,
  EventBus,
  HttpClientNode,
  RequestPacing,
  VersionStore
} from "../../../src/index.ts"
import { withAdvancingClock } from "../../../src/testing/advancingClock.ts"
import { makeTemporaryStore } from "../../support/content.ts"

const provided = Effect.provide(
  Layer.provideMerge(ControllerServices.layer("task"), Layer.merge(NodeContext.layer, HttpClientNode.layer))
)

/** Starts a content whose source saves one file with this text. */
const start = (settings: Pick<ContentConfig, "commands" | "name">, text: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fs) =>
    Content.fromSources(settings, [
      {
        id: "texts",
        fetch: ({ directory }) =>
          Effect.as(Effect.orDie(fs.writeFileString(`${directory}/text.txt`, text)), {
            fingerprint: text,
            records: text.length,
            bytes: text.length
          })
      }
    ])
  ).pipe(Effect.provideServiceEffect(VersionStore.VersionStore, makeTemporaryStore), Effect.orDie)

const dispatch = (type: string, fields: Record<string, unknown> = {}) =>
  Effect.flatMap(CommandBus.CommandBus, ({ dispatch }) => dispatch({ ...fields, type }))

const types = Effect.flatMap(CommandBus.CommandBus, ({ types }) => types)

const commandsOf = (name: string) =>
  [
    "accept",
    "ack",
    "check",
    "diff",
    "fetch",
    "hold",
    "keep",
    "manifest.read",
    "release",
    "resume",
    "rollback",
    "screen",
    "verify",
    "versions"
  ].map((command) => `${name}.${command}`)

it.scoped("two contents with names have their own commands, events, status and state", () =>
  Effect.gen(function* () {
    yield* start({}, "one")
    yield* start({ name: "archive" }, "three")
    expect(yield* types).toEqual([...commandsOf("archive"), ...commandsOf("content")])

    const events = yield* Effect.flatMap(EventBus.EventBus, ({ subscribe }) => subscribe)
    expect(yield* dispatch("content.fetch")).toMatchObject({ records: 3 })
    expect(yield* dispatch("archive.fetch")).toMatchObject({ records: 5 })
    const namesOf = (name: string) =>
      ["fetch:start", "source:start", "source:done", "version:promoted", "fetch:done"].map(
        (event) => `${name}:${event}`
      )
    const published = yield* Stream.runCollect(Stream.take(events, 10))
    expect(Chunk.toReadonlyArray(published).map(({ name }) => name)).toEqual([
      ...namesOf("content"),
      ...namesOf("archive")
    ])
    expect(yield* dispatch("archive.manifest.read")).toMatchObject({ status: "ok" })
    yield* dispatch("archive.ack", { consumerId: "screen-1", versionId: "19700101T000000Z" })

    const { state, status } = yield* ControllerState.ControllerState
    expect((yield* status).sections.map(({ name, title }) => [name, title])).toEqual([
      ["content", "Content"],
      ["archive", "Content: archive"]
    ])
    expect((yield* state).plugins).toMatchObject({
      content: { lastFetch: { records: 3 } },
      archive: { lastFetch: { records: 5 } }
    })
  }).pipe(provided)
)

it.scoped("a content with commands: false leaves them to another content", () =>
  Effect.gen(function* () {
    yield* start({}, "one")
    const { fetch } = yield* start({ name: "copy", commands: false }, "three")
    expect(yield* types).toEqual(commandsOf("content"))
    expect(yield* fetch).toMatchObject({ records: 5 })
    expect(yield* dispatch("content.fetch")).toMatchObject({ records: 3 })
  }).pipe(provided)
)

it.scoped("a configuration may have several contents", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const cwd = yield* fs.makeTempDirectoryScoped()
    const plugins = [
      content({ sources: [] }),
      content({ sources: [], name: "archive", downloadPath: "archive" }),
      content({ sources: [], name: "copy", downloadPath: "copy", commands: false })
    ]
    expect(yield* Controller.runTask({ cwd, plugins }, types)).toEqual([
      ...commandsOf("archive"),
      ...commandsOf("content")
    ])
  }).pipe(provided)
)

it.scoped.each(["", "Archive", "a.b", "content:", "1st"])("the name %j of a content is rejected", (name) =>
  Effect.gen(function* () {
    const configuration = { cwd: ".", plugins: [content({ sources: [], name })] }
    const error = yield* Effect.flip(Controller.runTask(configuration, Effect.void))
    expect(error.message).toContain(
      'name: expected a name such as "archive", of small letters, digits and hyphens'
    )
  }).pipe(provided)
)

it.scoped("the contents of a configuration share the pace of a base", () =>
  Effect.gen(function* () {
    const starts: Array<number> = []
    const paced: ContentSource.ContentSourceDefinition = {
      id: "tables",
      issues: [],
      make: Effect.gen(function* () {
        const pacer = yield* (yield* RequestPacing.RequestPacing).pacer("one base of this test", "1 second")
        const request = Effect.zipRight(pacer.take, Clock.currentTimeMillis)
        return {
          id: "tables",
          fetch: () =>
            Effect.map(request, (at) => {
              starts.push(at)
              return { fingerprint: "", records: 0, bytes: 0 }
            })
        }
      })
    }
    const cwd = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
    const plugins = [
      content({ sources: [paced] }),
      content({ sources: [paced], name: "archive", downloadPath: "archive" })
    ]
    yield* Controller.runTask(
      { cwd, plugins },
      withAdvancingClock(Effect.zipRight(dispatch("content.fetch"), dispatch("archive.fetch")))
    )
    const [first = 0, second = 0] = starts
    expect(second - first).toBeGreaterThanOrEqual(1000)
  }).pipe(provided)
)
