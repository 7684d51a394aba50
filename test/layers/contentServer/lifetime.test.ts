/**
 * Readers that are slow, stalled or too many, and the end.
 */
import * as FileSystem from "@effect/platform/FileSystem"
import { describe, expect, it } from "@effect/vitest"
import * as Chunk from "effect/Chunk"
import * as Clock from "effect/Clock"
import * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import { surplus } from "../../../src/layers/http/ConnectionLimit.ts"
import { checkEvery, stallTimeout } from "../../../src/layers/http/stallTimeout.ts"
import { ContentServer } from "../../../src/services/ContentServer.ts"
import * as server from "../../support/contentServer.ts"
import * as lifetime from "../../support/lifetime.ts"
import { format } from "../../support/rawHttp.ts"
import { eventually, somebodySleeps } from "../../support/waiting.ts"

const { connect, get, versionId } = server

/** More than the buffers of a connection take. */
const size = 32 * 1024 * 1024
const film = `/versions/${versionId}/exhibits/film.mp4`
const small = `/versions/${versionId}/exhibits/small.txt`

const running = (
  options: { readonly maxConnections?: number } = {},
  environment: typeof server.environment = server.environment
) =>
  Layer.unwrapScoped(
    Effect.gen(function* () {
      const downloads = yield* server.makeFolder
      yield* server.addVersion(downloads, { "film.mp4": Buffer.alloc(size, "f"), "small.txt": "small" })
      return server.layer({ downloadPath: downloads, ...options })
    })
  ).pipe(Layer.provideMerge(environment))

/** Asks for the film, and reads nothing of it. */
const stalledReader = Effect.gen(function* () {
  const connection = yield* connect
  connection.stall()
  connection.send(format({ target: film }))
  return connection
})

const openResponses = Effect.flatMap(ContentServer, ({ statistics }) =>
  Effect.map(statistics, ({ openResponses }) => openResponses)
)

const openResponsesBecome = (count: number) => eventually(Effect.map(openResponses, (now) => now === count))

/** Lets the time pass until it is looked once more whether somebody reads. */
const nextCheck = Effect.gen(function* () {
  const at = (yield* Clock.currentTimeMillis) + Duration.toMillis(checkEvery)
  yield* eventually(Effect.map(TestClock.sleeps(), Chunk.contains(at)))
  yield* TestClock.setTime(at)
})

describe("a client that stops reading", () => {
  it.scoped("does not delay others, and is disconnected half a minute after it last read", () =>
    Effect.gen(function* () {
      const before = yield* lifetime.whatIsThere
      yield* Effect.gen(function* () {
        const { received } = yield* stalledReader
        yield* openResponsesBecome(1)
        for (let times = 0; times < 3; times++) {
          expect((yield* get(film)).body).toHaveLength(size)
        }
        // It has taken something before the first look.
        yield* Effect.repeatN(nextCheck, Duration.toMillis(stallTimeout) / Duration.toMillis(checkEvery))
        yield* openResponsesBecome(0)
        expect(received.size()).toBeLessThan(size)
      }).pipe(Effect.scoped)
      yield* TestClock.adjust("1 minute")
      yield* before.isAllAgain()
    }).pipe(Effect.provide(running()))
  )

  it.scoped("gets the rest if it continues in time", () =>
    Effect.gen(function* () {
      const { received, resume } = yield* stalledReader
      yield* openResponsesBecome(1)
      yield* somebodySleeps
      yield* TestClock.adjust("29 seconds")
      resume()
      const text = yield* received.whole
      expect(text.length).toBeGreaterThan(size)
    }).pipe(Effect.provide(running()))
  )
})

describe("a slow reader", () => {
  it.scoped("is not disconnected while it reads", () =>
    Effect.gen(function* () {
      const connection = yield* stalledReader
      yield* openResponsesBecome(1)
      yield* somebodySleeps
      // More rounds could read so much that the rest fits into the buffers, and the response is over.
      for (let times = 0; times < 3; times++) {
        const before = connection.received.size()
        connection.resume()
        yield* eventually(Effect.sync(() => connection.received.size() > before + 5_000_000))
        connection.stall()
        // 20 seconds.
        yield* Effect.repeatN(nextCheck, 3)
      }
      // Time for a response that was given up to end.
      expect((yield* get(small)).status).toBe(200)
      expect(yield* openResponses).toBe(1)
      connection.resume()
      expect((yield* connection.received.whole).length).toBeGreaterThan(size)
    }).pipe(Effect.provide(running()))
  )
})

describe("connections", () => {
  it.scoped("are limited: one above gets an error, and one after a connection was closed is served", () =>
    Effect.gen(function* () {
      const first = yield* stalledReader
      yield* openResponsesBecome(1)
      const idle = yield* connect
      const { statistics } = yield* ContentServer
      yield* eventually(Effect.map(statistics, ({ connections }) => connections === 2))
      const answer = yield* get(small)
      expect(answer).toMatchObject({ status: 503, headers: { connection: "close", "retry-after": "1" } })
      expect(answer.body.toString()).toContain("Too many connections: all 2 are in use.")
      idle.reset()
      yield* eventually(Effect.map(statistics, ({ connections }) => connections === 1))
      expect((yield* get(small)).status).toBe(200)
      first.reset()
      yield* openResponsesBecome(0)
    }).pipe(Effect.provide(running({ maxConnections: 2 })))
  )

  it.scoped("far above the limit are closed at once", () =>
    Effect.gen(function* () {
      const { statistics } = yield* ContentServer
      yield* Effect.replicateEffect(connect, 1 + surplus)
      yield* eventually(Effect.map(statistics, ({ connections }) => connections === 1 + surplus))
      const { received } = yield* connect
      expect(yield* received.whole).toBe("")
    }).pipe(Effect.provide(running({ maxConnections: 1 })))
  )
})

describe("a disk that hangs", () => {
  const disk = Deferred.unsafeMake<void>(FiberId.none)
  const asked: Array<string> = []
  const hanging = Layer.effect(
    FileSystem.FileSystem,
    Effect.map(FileSystem.FileSystem, (fs) =>
      FileSystem.FileSystem.of({
        ...fs,
        readFile: (path) =>
          Effect.zipRight(
            Effect.zipRight(
              Effect.sync(() => asked.push(path)),
              Deferred.await(disk)
            ),
            fs.readFile(path)
          )
      })
    )
  )

  it.scoped("keeps only so many requests of pages that have left, and serves again when it responds", () =>
    Effect.gen(function* () {
      const { statistics } = yield* ContentServer
      for (const count of [1, 2]) {
        const page = yield* connect
        page.send(format({ target: "/manifest.json" }))
        yield* eventually(Effect.sync(() => asked.length === count))
        page.reset()
        yield* eventually(
          Effect.zipRight(
            TestClock.adjust(stallTimeout),
            Effect.map(statistics, ({ connections }) => connections === 0)
          )
        )
      }
      expect(yield* get("/manifest.json")).toMatchObject({ status: 503, headers: { "retry-after": "10" } })
      yield* Deferred.succeed(disk, undefined)
      yield* eventually(Effect.map(get("/manifest.json"), ({ status }) => status === 200))
    }).pipe(Effect.provide(running({ maxConnections: 1 }, Layer.provideMerge(hanging, server.environment))))
  )
})

describe("the end of the server", () => {
  it.scoped("takes at most two seconds, whatever its clients do", () =>
    Effect.gen(function* () {
      const before = yield* lifetime.whatIsThere
      const scope = yield* Scope.make()
      const context = yield* Layer.buildWithScope(running(), scope)
      yield* Effect.gen(function* () {
        yield* stalledReader
        yield* stalledReader
        const half = yield* connect
        half.send("GET /manifest.json HTTP/1.1\r\n")
        yield* connect
        yield* openResponsesBecome(2)
      }).pipe(Effect.provide(context))
      const started = performance.now()
      yield* Scope.close(scope, Exit.void)
      expect(performance.now() - started).toBeLessThan(2000)
      yield* Effect.yieldNow()
      yield* before.isAllAgain(4)
    })
  )
})

describe("a connection", () => {
  it.scoped("is kept alive for longer than the poll interval of a replica", () =>
    Effect.gen(function* () {
      const { received, send } = yield* connect
      send(`GET ${small} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
      expect(yield* received.until((text) => text.includes("\r\n\r\n"))).toContain(
        "\r\nKeep-Alive: timeout=15\r\n"
      )
    }).pipe(Effect.provide(running()))
  )
})
