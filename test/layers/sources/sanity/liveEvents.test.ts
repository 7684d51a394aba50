import * as FileSystem from "@effect/platform/FileSystem"
import * as NodeContext from "@effect/platform-node/NodeContext"
import { describe, expect, it } from "@effect/vitest"
import { createClient } from "@sanity/client"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Queue from "effect/Queue"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/TestClock"
import * as RequestPacingMemory from "../../../../src/layers/memory/RequestPacingMemory.ts"
import type { SanitySourceConfig } from "../../../../src/layers/sources/sanity/SanityOptions.ts"
import { sanitySource } from "../../../../src/layers/sources/sanity/sanitySource.ts"
import { eventLoopTurn } from "../../../../src/testing/advancingClock.ts"
import { httpClient } from "../../../support/httpClientWithoutKeepAlive.ts"
import { withLog } from "../../../support/logged.ts"
import * as SanityServer from "../../../support/sanityServer.ts"

const run = Effect.provide(Layer.mergeAll(NodeContext.layer, RequestPacingMemory.layer, httpClient))

/** Lets time go on, second by second, until the effect ends. */
const within = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.fork(effect)
    while (Option.isNone(yield* Fiber.poll(fiber))) {
      yield* eventLoopTurn
      yield* TestClock.adjust("1 second")
    }
    return yield* Fiber.join(fiber)
  })

/** Without the time going on. */
const soon = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const fiber = yield* Effect.fork(effect)
    while (Option.isNone(yield* Fiber.poll(fiber))) yield* eventLoopTurn
    return yield* Fiber.join(fiber)
  })

const { token } = SanityServer

const turns = Effect.repeatN(eventLoopTurn, 50)

const setUp = (config: Partial<SanitySourceConfig> = {}) =>
  Effect.gen(function* () {
    const server = yield* SanityServer.make([
      { _id: "a", _type: "event", _updatedAt: "2026-01-01", title: "Talk" }
    ])
    const fileSystem = yield* FileSystem.FileSystem
    const directory = yield* fileSystem.makeTempDirectoryScoped()
    const source = yield* sanitySource({
      id: "museum",
      projectId: "zp7mbokg",
      dataset: "production",
      queries: { events: '*[_type == "event"]' },
      endpointUrl: server.url,
      ...config
    }).make
    const changes = yield* Queue.unbounded<void>()
    const { data = Effect.dieMessage("no data"), poll = () => Effect.dieMessage("no poll") } = source
    const listening = Effect.forkScoped(
      Stream.runForEach(source.changes ?? Stream.empty, () => Queue.offer(changes, undefined))
    )
    return {
      server,
      changes,
      data,
      poll,
      hasChanges: source.changes !== undefined,
      listening,
      /** Until the first connection has caused a poll. */
      connect: Effect.all([listening, soon(Queue.take(server.connected)), soon(Queue.take(changes))]),
      fetch: source.fetch({ directory, previous: Option.none(), progress: () => Effect.void })
    }
  })

const event = (title: string) => ({ _id: "a", _type: "event", title })

describe("the live events of Sanity", () => {
  it.scoped("cause a poll at once, which finds what has changed", () =>
    Effect.gen(function* () {
      const { changes, connect, data, poll, server } = yield* setUp()
      const { cursor } = yield* soon(poll(Option.none()))
      yield* connect
      server.put(event("Talk, moved"))
      yield* soon(Queue.take(changes))
      expect((yield* soon(poll(Option.some(cursor)))).changed).toBe("everything")
      expect(yield* data).toEqual({ "Live events": "received", problems: [] })
    }).pipe(run)
  )

  it.scoped("cause no fetch if the poll finds nothing, with any content", () =>
    Effect.gen(function* () {
      const { changes, connect, poll, server } = yield* setUp()
      const { cursor } = yield* soon(poll(Option.none()))
      yield* connect
      for (const data of [{ tags: ["s1:event"] }, { tags: [] }, "nothing"]) {
        server.send({ event: "message", data })
        yield* soon(Queue.take(changes))
        expect((yield* soon(poll(Option.some(cursor)))).changed).toBe("nothing")
      }
    }).pipe(run)
  )

  it.scoped("cause a poll when the connection has ended and is back, without a warning", () => {
    const lines: Array<string> = []
    return Effect.gen(function* () {
      const { changes, connect, data, poll, server } = yield* setUp()
      const { cursor } = yield* soon(poll(Option.none()))
      yield* connect
      server.cut()
      server.put(event("Talk, cancelled"))
      yield* within(Queue.take(server.connected))
      yield* soon(Queue.take(changes))
      expect((yield* soon(poll(Option.some(cursor)))).changed).toBe("everything")
      expect(yield* data).toMatchObject({ problems: [] })
      expect(lines.filter((line) => !line.startsWith("DEBUG"))).toEqual([])
    }).pipe(withLog(lines), run)
  })

  it.scoped("are requested again after minutes without an event", () =>
    Effect.gen(function* () {
      const { data, fetch, listening, server } = yield* setUp()
      yield* soon(fetch)
      yield* listening
      yield* soon(Queue.take(server.connected))
      yield* turns
      yield* TestClock.adjust("239 seconds")
      yield* turns
      expect(yield* Queue.size(server.connected)).toBe(0)
      yield* within(Queue.take(server.connected))
      expect(yield* data).toMatchObject({ problems: [] })
    }).pipe(run)
  )

  it.scoped(
    "cause one problem and one warning if they cannot be read, and are retried with growing pauses",
    () => {
      const lines: Array<string> = []
      return Effect.gen(function* () {
        const { data, fetch, listening, poll, server } = yield* setUp()
        server.refuseLive((response) => response.writeHead(503, { connection: "close" }).end())
        yield* soon(fetch)
        const { cursor } = yield* soon(poll(Option.none()))
        yield* listening
        const tries = () => server.requests.filter(({ url }) => url.pathname.includes("/live/")).length
        for (let second = 0; second < 180; second++) {
          yield* Effect.repeatN(eventLoopTurn, 5)
          yield* TestClock.adjust("1 second")
        }
        expect(tries()).toBeGreaterThan(5)
        expect(tries()).toBeLessThan(12)
        expect(yield* data).toMatchObject({
          "Live events": "not received",
          problems: [
            {
              code: "sanity:live",
              severity: "warning",
              subject: "museum",
              since: expect.stringMatching(/^1970/)
            }
          ]
        })
        server.put(event("Talk, moved"))
        expect((yield* soon(poll(Option.some(cursor)))).changed).toBe("everything")
        server.refuseLive(undefined)
        yield* within(Queue.take(server.connected))
        yield* turns
        expect(yield* data).toEqual({ "Live events": "received", problems: [] })
        expect(lines.filter((line) => !line.startsWith("DEBUG"))).toEqual([
          "WARN The live events of Sanity cannot be received: Sanity failed (HTTP 503). Changes are found at the next tick",
          "INFO The live events of Sanity are received again"
        ])
      }).pipe(withLog(lines), run)
    }
  )

  it.scoped("are retried after ten minutes if the server asks for that", () =>
    Effect.gen(function* () {
      const { data, fetch, listening, server } = yield* setUp()
      yield* soon(fetch)
      yield* listening
      yield* soon(Queue.take(server.connected))
      server.send({ event: "goaway", data: { reason: "too many" } })
      yield* turns
      yield* TestClock.adjust("9 minutes")
      yield* turns
      expect(yield* Queue.size(server.connected)).toBe(0)
      expect(yield* data).toMatchObject({
        problems: [
          { text: expect.stringContaining('Sanity asks not to connect again: {"reason":"too many"}') }
        ]
      })
      yield* within(Queue.take(server.connected))
    }).pipe(run)
  )

  it.scoped("are not requested if the cache is read, which is behind them", () =>
    Effect.gen(function* () {
      const { hasChanges } = yield* setUp({ useCdn: true })
      expect(hasChanges).toBe(false)
    }).pipe(run)
  )

  it.scoped("include drafts if drafts are read, with the token", () =>
    Effect.gen(function* () {
      const { listening, server } = yield* setUp({ perspective: "drafts", token: SanityServer.token })
      yield* listening
      const { headers, url } = yield* soon(Queue.take(server.connected))
      expect(url.searchParams.get("includeDrafts")).toBe("true")
      expect(headers.authorization).toBe(`Bearer ${SanityServer.token}`)
    }).pipe(run)
  )

  it.scoped("show no secret in the log or the status, even if the server repeats it", () => {
    const lines: Array<string> = []
    return Effect.gen(function* () {
      const { data, fetch, listening, server } = yield* setUp({ perspective: "drafts", token })
      yield* soon(fetch)
      yield* listening
      yield* soon(Queue.take(server.connected))
      server.send({ event: "goaway", data: { [token]: encodeURIComponent(token.toUpperCase()) } })
      yield* turns
      expect(yield* data).toMatchObject({
        problems: [{ text: expect.stringContaining('not to connect again: {"<apiKey>":"<apiKey>"}') }]
      })
      expect(lines.join()).toContain("<apiKey>")
      expect(`${lines} ${JSON.stringify(yield* data)}`.toLowerCase()).not.toContain(token.toLowerCase())
    }).pipe(withLog(lines), run)
  })

  it.scoped("follow a redirect to another origin, which does not get the token", () =>
    Effect.gen(function* () {
      const other = yield* SanityServer.make([])
      const { listening, server } = yield* setUp({ perspective: "drafts", token })
      server.refuseLive((response) =>
        response.writeHead(302, { location: `${other.url}/v1/data/live/events/production` }).end()
      )
      yield* listening
      const { headers } = yield* soon(Queue.take(other.connected))
      expect(headers).toMatchObject({ accept: "text/event-stream" })
      expect(headers.authorization).toBeUndefined()
    }).pipe(run)
  )

  it.scoped.each([
    ["a line", `data: ${"x".repeat(4096)}`],
    ["empty lines", "data:\n"]
  ] as const)("end with a warning if an event never ends: %s", ([, part]) =>
    Effect.gen(function* () {
      const { data, listening, server } = yield* setUp()
      let sent = 0
      server.refuseLive((response) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        const send = () => {
          while (!response.destroyed && response.write(part.repeat(1000))) sent++
        }
        response.on("drain", send)
        send()
      })
      yield* listening
      while (JSON.stringify(yield* data).includes('"problems":[]')) yield* eventLoopTurn
      expect(yield* data).toMatchObject({
        problems: [{ text: expect.stringContaining("one of its events has more than 1048576 characters") }]
      })
      expect((sent * part.length) / 1000).toBeLessThan(1024 * 1024)
    }).pipe(run)
  )

  it.effect('are not requested if "live" is false', () =>
    Effect.gen(function* () {
      const source = yield* sanitySource({
        id: "museum",
        projectId: "zp7mbokg",
        dataset: "production",
        queries: { events: "*" },
        live: false
      }).make
      expect(source.changes).toBeUndefined()
      expect(source.data).toBeUndefined()
    }).pipe(Effect.scoped, run)
  )

  it.scopedLive("are received by the official client, too, from the server of these tests", () =>
    Effect.gen(function* () {
      const { server } = yield* setUp()
      const client = createClient({
        apiHost: server.url,
        useProjectHostname: false,
        projectId: "zp7mbokg",
        dataset: "production",
        apiVersion: "2025-02-19",
        useCdn: false
      })
      const heard = yield* Queue.unbounded<unknown>()
      yield* Effect.acquireRelease(
        Effect.sync(() => client.live.events().subscribe((event) => void heard.unsafeOffer(event))),
        (subscription) => Effect.sync(() => subscription.unsubscribe())
      )
      expect(yield* Queue.take(heard)).toMatchObject({ type: "welcome" })
      server.put(event("Talk, moved"))
      expect(yield* Queue.take(heard)).toMatchObject({ type: "message", id: "e1", tags: ["s1:event"] })
    }).pipe(run)
  )
})
