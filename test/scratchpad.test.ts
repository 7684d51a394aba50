/**
 * The examples for programs of Effect: each is short, runs to its end, and prints what it should. A bus and a source
 * of one's own pass the suites for these, and work in a controller that nothing else is changed in.
 */
import { once } from "node:events"
import { readdirSync, readFileSync } from "node:fs"
import { createServer } from "node:http"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { format } from "node:util"
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { afterAll, beforeAll, describe, expect, it, vi } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { onTestFinished } from "vitest"
import {
  CommandBus,
  type ConfigurationFile,
  Controller,
  ControllerServices,
  HttpClientNode,
  VersionStore
} from "vitrine"
import { startShelfServer } from "../scratchpad/content-system/shelfServer.ts"
import * as EventBusJournal from "../scratchpad/second-bus/EventBusJournal.ts"
import * as eventReader from "./support/eventReader.ts"
import { withLog } from "./support/logged.ts"
import "../scratchpad/second-bus/EventBusJournal.test.ts"
import "../scratchpad/content-system/ShelfSource.test.ts"

const folder = fileURLToPath(new URL("../scratchpad/effect/", import.meta.url))

/** What each prints, among other things and in this order. */
const examples: Readonly<Record<string, ReadonlyArray<string>>> = {
  defined: ["Open for 10 minutes", "1970-01-01T00:10:00.000Z"],
  "command-bus": ["lamp.dim", "brightness: 0.4", "percent: Expected", "Known are: lamp.dim."],
  content: ["changed: true", "changed: false"],
  "content-server": ["206 <!doctype html>", '404 {"error":{"message":"Not found: /versions/none"}}'],
  controller: ["Everything is set up.", "bright", "The lamp is off."],
  "event-bus": ["lamp:on { room: 'Hall 2' }", "lamp:off { room: 'Hall 2' }"],
  "http-transport": ["403 ", "Command not allowed", '200 {"result":"bright"}'],
  "ipc-client": ["Ready", "[ 'HTTP transport' ]", "Stopping"],
  "mounted-behind-password": ["204 Content-Type, Authorization\n", "401 200"],
  "mounted-transport": ["Welcome to Hall 2", '{"result":"bright"}', "text/event-stream"],
  opentelemetry: ["changed: true"],
  "replay-backlog": ["event: greeting", 'data: "Welcome back"'],
  "table-source": ["records: 1", "1 [ 'Objects.json', 'Settings.json' ]", '"title": "Stars"'],
  "table-source-client": ["{ key: 'museum', value:", "NotFound"]
}

/** A collector of OpenTelemetry. */
const received: Array<string> = []
const collector = createServer(async (request, response) => {
  received.push(`${request.url} ${await text(request)}`)
  response.end("{}")
})

beforeAll(async () => {
  await once(collector.listen(0, "127.0.0.1"), "listening")
  const address = collector.address()
  if (address === null || typeof address === "string") throw new Error("The collector has no port.")
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${address.port}`
})

afterAll(() => void collector.close())

describe("an example in scratchpad/effect", () => {
  it("has a test", () => {
    const files = Object.keys(examples).map((name) => `${name}.ts`)
    expect(readdirSync(folder).sort()).toEqual(files.sort())
  })

  it.each(Object.entries(examples))("runs: %s", async (name, prints) => {
    const lines: Array<string> = []
    vi.spyOn(console, "log").mockImplementation((...parts) => void lines.push(format(...parts)))
    onTestFinished(() => void vi.restoreAllMocks())

    await import(`../scratchpad/effect/${name}.ts`)

    const printed = lines.join("\n")
    expect(inOrder(printed, prints)).toEqual(prints)
  })

  it.each(Object.keys(examples))(
    "is short, explains how to run it, and imports nothing from the source: %s",
    (name) => {
      const source = readFileSync(`${folder}${name}.ts`, "utf8")
      expect(source.trimEnd().split("\n").length).toBeLessThanOrEqual(32)
      expect(source).toContain(`npx jiti scratchpad/effect/${name}.ts`)
      expect(source).not.toMatch(/from "\.|#dist/)
    }
  )

  it("exports its metrics and spans", () => {
    const of = (path: string) => received.filter((request) => request.startsWith(`${path} `)).join("\n")
    for (const metric of [
      "vitrine_content_fetches_total",
      "vitrine_content_last_success_timestamp_seconds",
      "vitrine_content_promotions_total",
      "vitrine_commands_total"
    ]) {
      expect(of("/v1/metrics")).toContain(`"name":"${metric}"`)
    }
    expect(of("/v1/metrics")).toMatch(
      /"name":"vitrine_content_last_success_timestamp_seconds"[^}]*"unit":"s"/
    )
    for (const span of ["CommandBus.dispatch", "Content.fetch", "Content.fetchSource", "Content.promote"]) {
      expect(of("/v1/traces")).toContain(`"name":"${span}"`)
    }
  })
})

const platform = Layer.merge(NodeContext.layer, HttpClientNode.layer)
const cwd = fileURLToPath(new URL("..", import.meta.url))

const temporaryFolder = Effect.flatMap(FileSystem.FileSystem, (fs) => fs.makeTempDirectoryScoped())

/** What a configuration exports in this environment. */
const configurationOf = (load: () => Promise<{ readonly default: ConfigurationFile }>) =>
  Effect.promise(async () => ({ cwd, ...(await load()).default }))

const withEnvironment = (environment: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
    }),
    () => Effect.sync(() => vi.unstubAllEnvs())
  )

it.scopedLive("a controller with scratchpad/second-bus sends events of both buses to its screens", () =>
  Effect.gen(function* () {
    const journal = `${yield* temporaryFolder}/events.ndjson`
    yield* withEnvironment({ PORT: "0", JOURNAL: journal })
    const { services, ...configuration } = yield* configurationOf(
      () => import("../scratchpad/second-bus/vitrine.config.ts")
    )
    const lines: Array<string> = []
    const ready = yield* Deferred.make<void, unknown>()
    const hooks = { endpoint: Effect.succeed(Effect.never), onReady: Deferred.succeed(ready, undefined) }
    const running = Controller.runPersistent(configuration, hooks).pipe(
      Effect.provide(ControllerServices.layer("persistent", services)),
      withLog(lines)
    )
    yield* Effect.forkScoped(Effect.catchAllCause(running, (cause) => Deferred.failCause(ready, cause)))
    yield* Deferred.await(ready)

    const port = Number(/HTTP transport on http:\S+:(\d+)/.exec(lines.join("\n"))?.[1])
    const message = yield* Deferred.make<unknown>()
    yield* eventReader.open(port, { onMessage: (one) => Deferred.unsafeDone(message, Effect.succeed(one)) })
    const elsewhere = yield* EventBusJournal.make(journal)
    yield* elsewhere.publish("lamp:on", { room: "Hall 2" })
    expect(yield* Deferred.await(message)).toEqual({ event: "lamp:on", data: '{"room":"Hall 2"}' })
  }).pipe(Effect.provide(platform))
)

it.scopedLive("a controller with scratchpad/content-system saves the shelves of the system", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const downloads = yield* temporaryFolder
    const { setShelf, url } = yield* startShelfServer({ token: "secret", maxCount: 1 })
    yield* setShelf("Books", [
      { key: "1", values: { title: "Almagest" } },
      { key: "2", values: { title: "Micrographia" } }
    ])
    yield* withEnvironment({ DOWNLOADS: downloads, SHELVES: url, SHELVES_TOKEN: "secret" })
    const configuration = yield* configurationOf(
      () => import("../scratchpad/content-system/vitrine.config.ts")
    )
    const fetch = Effect.flatMap(CommandBus.CommandBus, ({ dispatch }) => dispatch({ type: "content.fetch" }))
    yield* Controller.runTask(configuration, fetch).pipe(
      Effect.provide(ControllerServices.layer("task")),
      withLog([])
    )
    const { versionPath } = yield* Schema.decode(Schema.parseJson(VersionStore.Manifest))(
      yield* fs.readFileString(`${downloads}/manifest.json`)
    )
    expect(JSON.parse(yield* fs.readFileString(`${downloads}/${versionPath}/library/Books.json`))).toEqual([
      { id: "1", title: "Almagest" },
      { id: "2", title: "Micrographia" }
    ])
  }).pipe(Effect.provide(platform))
)

/** Those of the texts that are there, each after the one before. */
const inOrder = (printed: string, texts: ReadonlyArray<string>): ReadonlyArray<string> => {
  let at = 0
  return texts.filter((text) => {
    const found = printed.indexOf(text, at)
    at = found === -1 ? at : found + text.length
    return found !== -1
  })
}
