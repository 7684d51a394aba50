/**
 * A controller that is stopped in the middle of a fetch: its connections are closed at once, nothing of it runs on, and
 * nothing half done is left.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as Supervisor from "effect/Supervisor"
import * as TestClock from "effect/TestClock"
import { content, tableSource } from "../../../../src/index.ts"
import { runTask } from "../../../../src/layers/controller/Controller.ts"
import * as ControllerServices from "../../../../src/layers/controller/ControllerServices.ts"
import * as httpClient from "../../../../src/layers/httpClient/HttpClientNode.ts"
import { CommandBus } from "../../../../src/services/CommandBus.ts"
import * as ScriptedServer from "../../../support/ScriptedServer.ts"
import { json, silence, stalledBody, text } from "../../../support/ScriptedServer.ts"
import { temporaryFolder } from "../../../support/temporaryFolder.ts"
import { eventLoopTurn, eventually } from "../../../support/waiting.ts"

const emptyPage = json(200, { records: [] })

const firstPage = json(200, { records: [], offset: "itr1" })

/** How many milliseconds of the real clock a stop may take, on a busy machine. */
const patience = 5000

interface Situation {
  readonly name: string
  /** The responses of the table server, request by request. */
  readonly tables: (files: string) => ReadonlyArray<ScriptedServer.Answer>
  /** The responses of the host of attachments. */
  readonly files?: ScriptedServer.Answer
  /** The stop happens during a wait of this many milliseconds, or else during a request. */
  readonly wait?: number
}

const withAttachment = (files: string) => [
  json(200, {
    records: [{ id: "rec1", fields: { Picture: [{ id: "att1", url: `${files}/a`, filename: "a" }] } }]
  })
]

const situations: ReadonlyArray<Situation> = [
  { name: "no answer", tables: () => [silence] },
  { name: "half an answer", tables: () => [stalledBody] },
  { name: "half a refusal", tables: () => [(response) => response.writeHead(404).write("{")] },
  { name: "its turn", tables: () => [firstPage, emptyPage], wait: 215 },
  { name: "the end of a penalty", tables: () => [json(429, {}), emptyPage], wait: 30_000 },
  { name: "another try", tables: () => [text(503, ""), emptyPage], wait: 1000 },
  { name: "a file", tables: withAttachment, files: silence },
  {
    name: "the rest of a file",
    tables: withAttachment,
    files: (response) => response.writeHead(200).write("a")
  }
]

it.scoped.each(situations)("a fetch that waits for $name ends at once", ({ files, tables, wait }) =>
  Effect.gen(function* () {
    const fileSystem = yield* FileSystem.FileSystem
    const host = yield* ScriptedServer.make(files ?? text(200, "file"))
    const server = yield* ScriptedServer.make(emptyPage)
    server.next(...tables(host.url))
    const { directory } = yield* temporaryFolder()
    const fibers = yield* Supervisor.track
    const controller = yield* runTask(
      {
        cwd: directory,
        plugins: [
          content({
            sources: [
              tableSource({
                id: "exhibits",
                baseId: "app1",
                apiKey: "pat.secret",
                endpointUrl: server.url,
                tables: ["Objects"]
              })
            ]
          })
        ]
      },
      Effect.flatMap(CommandBus, ({ dispatch }) => dispatch({ type: "content.fetch" }))
    ).pipe(
      Effect.provide(ControllerServices.layer("task")),
      Effect.provide(httpClient.layer),
      Effect.supervised(fibers),
      Effect.fork
    )

    const requests = [yield* Queue.take(server.received)]
    if (files !== undefined) {
      requests.push(yield* Queue.take(host.received))
    }
    if (wait !== undefined) {
      yield* eventually(Effect.map(TestClock.sleeps(), Chunk.contains(wait)))
    }
    // Sent data gets its turn to arrive.
    yield* Effect.repeatN(eventLoopTurn, 5)

    expect((yield* fibers.value).length).toBeGreaterThan(1)
    const start = performance.now()
    yield* Fiber.interrupt(controller)
    yield* Effect.forEach(requests, ({ closed }) => Deferred.await(closed))
    expect(performance.now() - start).toBeLessThan(patience)

    expect((yield* fibers.value).map((fiber) => fiber.id())).toEqual([])
    expect(yield* fileSystem.readDirectory(`${directory}/downloads/.staging`)).toEqual([])
    expect(yield* fileSystem.readDirectory(`${directory}/downloads/versions`)).toEqual([])
    yield* TestClock.adjust("10 minutes")
    yield* Effect.repeatN(eventLoopTurn, 5)
    expect([yield* Queue.size(server.received), yield* Queue.size(host.received)]).toEqual([0, 0])
  }).pipe(Effect.provide(NodeContext.layer))
)
