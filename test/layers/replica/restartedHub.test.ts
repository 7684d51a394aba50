/**
 * A hub that ends while a replica copies a version of it, and starts again on the same port.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import * as HttpClient from "@effect/platform/HttpClient"
import type * as Path from "@effect/platform/Path"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import * as ContentServer from "../../../src/layers/contentServer/ContentServer.ts"
import * as HttpClientNode from "../../../src/layers/httpClient/HttpClientNode.ts"
import * as Replica from "../../../src/layers/replica/Replica.ts"
import { servicesIn } from "../../support/content.ts"
import { makeHub, readActive, type Sources } from "../../support/hub.ts"
import { memoryServices } from "../../support/transport.ts"

const edition = (edition: number): Sources => ({
  exhibits: { "changed.jpg": `edition ${edition}`, "same.jpg": "the same" }
})

/** Serves the folder until it is stopped. */
const startServer = Effect.fnUntraced(function* (downloadPath: string, port = 0) {
  const scope = yield* Scope.make()
  yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
  const { address } = yield* ContentServer.make({ downloadPath, port }).pipe(
    Scope.extend(scope),
    Effect.provide(memoryServices())
  )
  return { port: Option.getOrThrow(address).port, stop: Scope.close(scope, Exit.void) }
})

describe("a copy from a hub that ends between its list of files and the files", () => {
  it.scopedLive.each([
    ["with what it had", false],
    ["with a newer version in the place of all others", true]
  ] as const)("is completed when it starts again %s", ([_, movesOn]) =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const hub = yield* makeHub
      const base = yield* hub.promote(edition(1))
      const server = yield* startServer(hub.directory)

      const asked: Array<string> = []
      /** Each runs before one of the next requests of files. */
      const interludes: Array<Effect.Effect<unknown>> = []
      const client = HttpClient.tapRequest(yield* HttpClient.HttpClient, ({ url }) => {
        asked.push(url)
        return url.endsWith(".jpg") ? (interludes.shift() ?? Effect.void) : Effect.void
      })
      const directory = yield* fs.makeTempDirectoryScoped()
      const { fetch } = yield* Replica.make({
        from: `http://127.0.0.1:${server.port}`
      }).pipe(
        Effect.provideService(HttpClient.HttpClient, client),
        Effect.provide(yield* Layer.build(servicesIn(directory, "task")))
      )
      yield* fetch

      const started = yield* hub.promote(edition(2))
      let last = started
      const moveOn = Effect.gen(function* () {
        last = yield* hub.promote(edition(3))
        for (const gone of [base, started]) {
          yield* fs.remove(`${hub.directory}/versions/${gone}`, { recursive: true })
        }
      })
      const environment = yield* Effect.context<FileSystem.FileSystem | Path.Path | Scope.Scope>()
      asked.length = 0
      interludes.push(
        Effect.zipRight(
          server.stop,
          movesOn ? Effect.orDie(Effect.provide(moveOn, environment)) : Effect.void
        ),
        Effect.orDie(Effect.provide(startServer(hub.directory, server.port), environment))
      )
      expect(yield* fetch).toMatchObject({ changed: true, versionId: last })
      expect(asked).toContainEqual(expect.stringMatching(`${started}/files\\.json$`))
      expect(interludes).toEqual([])
      expect(yield* readActive(directory)).toEqual(yield* readActive(hub.directory))
    }).pipe(
      Logger.withMinimumLogLevel(LogLevel.None),
      Effect.provide(Layer.merge(NodeContext.layer, HttpClientNode.layer))
    )
  )
})
