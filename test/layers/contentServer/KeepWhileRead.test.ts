/**
 * What keeps a version on disk while it is read.
 */
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as TestClock from "effect/TestClock"
import { CommandBus } from "../../../src/services/CommandBus.ts"
import { ContentServer } from "../../../src/services/ContentServer.ts"
import * as server from "../../support/contentServer.ts"
import { format } from "../../support/rawHttp.ts"
import { eventually, somebodySleeps } from "../../support/waiting.ts"

const { connect, get, versionId } = server

const target = (id: string, name = "a.txt") => `/versions/${id}/exhibits/${name}`
const other = "20261121T093001Z"

const running = (options: { readonly content?: string } = {}) =>
  Layer.unwrapScoped(
    Effect.gen(function* () {
      const downloads = yield* server.makeFolder
      for (const id of [versionId, other]) {
        yield* server.addVersion(downloads, { "a.txt": "a", "film.mp4": Buffer.alloc(96_000_000) }, id)
      }
      return server.layer({ downloadPath: downloads, ...options })
    })
  ).pipe(Layer.provideMerge(server.environment))

/** The versions that were asked to be kept, in order. */
const recordKept = (type: string, run: Effect.Effect<void> = Effect.void) =>
  Effect.gen(function* () {
    const kept: Array<string> = []
    const commands = yield* CommandBus
    yield* commands.register({
      type,
      fields: Schema.Struct({ versionId: Schema.String }),
      run: ({ versionId }) =>
        Effect.zipRight(
          Effect.sync(() => kept.push(versionId)),
          run
        )
    })
    return kept
  })

describe("a version that is read", () => {
  it.scoped("is marked as read from the first request on, at most once a minute", () =>
    Effect.gen(function* () {
      const kept = yield* recordKept("content.keep")
      yield* get("/manifest.json")
      yield* get(target("20261121T093002Z"))
      expect(kept).toEqual([])
      for (let times = 0; times < 5; times++) {
        yield* get(target(versionId))
      }
      yield* get(target(other))
      expect(kept).toEqual([versionId, other])
      yield* somebodySleeps
      yield* TestClock.adjust("59 seconds")
      yield* get(target(versionId))
      expect(kept).toHaveLength(2)
      yield* TestClock.adjust("1 second")
      // Nobody reads any more.
      expect(kept).toHaveLength(2)
      yield* get(target(versionId))
      expect(kept).toEqual([versionId, other, versionId])
    }).pipe(Effect.provide(running()))
  )

  it.scoped("is kept for as long as a response of it is open", () =>
    Effect.gen(function* () {
      const kept = yield* recordKept("archive.keep")
      const reader = yield* connect
      reader.stall()
      reader.send(format({ target: target(versionId, "film.mp4") }))
      yield* eventually(Effect.sync(() => kept.length === 1))
      for (let minutes = 2; minutes < 5; minutes++) {
        // It goes on reading, a little of what there is.
        for (let times = 0; times < 3; times++) {
          const before = reader.received.size()
          reader.resume()
          yield* eventually(Effect.sync(() => reader.received.size() > before + 1_500_000))
          reader.stall()
          yield* somebodySleeps
          yield* TestClock.adjust("20 seconds")
        }
        expect(kept).toHaveLength(minutes)
      }
      reader.reset()
      const { statistics } = yield* ContentServer
      yield* eventually(Effect.map(statistics, ({ openResponses }) => openResponses === 0))
      yield* TestClock.adjust("2 minutes")
      expect(kept).toEqual(Array(4).fill(versionId))
    }).pipe(Effect.provide(running({ content: "archive" })))
  )

  it.scoped("is served even if the command that marks it is missing or hangs", () =>
    Effect.gen(function* () {
      expect((yield* get(target(versionId))).status).toBe(200)
      yield* recordKept("content.keep", Effect.never)
      expect((yield* get(target(other))).status).toBe(200)
      yield* TestClock.adjust("3 minutes")
      expect((yield* get(target(other))).status).toBe(200)
    }).pipe(Effect.provide(running()))
  )
})
