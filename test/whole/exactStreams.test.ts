/**
 * Event streams of several processes on one NATS are as exact as those of one: nothing is missing in them, nothing is
 * there twice, nothing goes backwards, whenever a client connects.
 */
import * as net from "node:net"
import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import { startNatsEdge } from "../support/natsEdge.ts"
import { startNatsServer } from "../support/natsServer.ts"
import { isMissing } from "../support/programs.ts"

const clients = 900

/** In which clients connect, in milliseconds. */
const duration = 9000

/** The seed of the moments at which clients connect. */
const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31)

describe.skipIf(isMissing("nats-server"))("event streams in several processes", () => {
  it.scopedLive(
    `deliver every event once to ${clients} clients that connect at any time to three processes`,
    () =>
      Effect.gen(function* () {
        const { url } = yield* startNatsServer()
        const startEdge = Effect.flatMap(startNatsEdge(url, "transport"), ({ says }) =>
          Effect.map(says(/^port (\d+)$/m), Number)
        )
        const publisher = yield* startNatsEdge(url, "publisher")
        yield* publisher.says(/^publishing$/m)
        const ports = yield* Effect.all([startEdge, startEdge])

        const random = randomNumbers(seed)
        const moments = Array.from({ length: clients }, () => random() * duration).sort((a, b) => a - b)
        const streams: Array<EventStream> = []
        yield* Effect.addFinalizer(() => Effect.sync(() => closeAll(streams)))
        const late = yield* Effect.forkScoped(
          Effect.delay(startEdge, duration / 2).pipe(Effect.tap((port) => ports.push(port)))
        )
        const start = Date.now()
        for (const moment of moments) {
          yield* Effect.sleep(Math.max(0, start + moment - Date.now()))
          streams.push(openStream(ports[Math.floor(random() * ports.length)] ?? 0))
        }
        // On a busy machine, the late one has no client before.
        streams.push(openStream(yield* Fiber.join(late)))
        yield* Effect.sleep("1 second")
        yield* publisher.finish
        const last = Number(yield* publisher.says(/^last (\d+)$/m))
        const emitted = Array.from({ length: last + 1 }, (_, count) =>
          count % 50 === 0 ? [`counter ${count}`, `milestone ${count / 50}`] : [`counter ${count}`]
        ).flat()
        yield* Effect.repeat(Effect.sleep("50 millis"), {
          until: () => streams.every(({ seen }) => seen.at(-1) === emitted.at(-1))
        }).pipe(Effect.timeoutOption("10 seconds"))

        expect(streams).toHaveLength(clients + 1)
        expect(last).toBeGreaterThan(100)
        const inexact = streams.flatMap(({ seen }, client) => {
          const expected = expectedOf(emitted, seen)
          const at = expected.findIndex((event, index) => event !== seen[index])
          return at === -1 && seen.length === expected.length
            ? []
            : [
                {
                  client,
                  at,
                  seen: seen.slice(Math.max(0, at - 2), at + 3),
                  expected: expected.slice(Math.max(0, at - 2), at + 3)
                }
              ]
        })
        expect(inexact, `seed ${seed}, last ${last}`).toEqual([])
        // They came at any time: few began with the same.
        expect(new Set(streams.map(({ seen }) => `${seen[0]} ${seen[1]}`)).size).toBeGreaterThan(100)
      }),
    90_000
  )

  it.scopedLive("open at once while the NATS server is suspended, with the events remembered before", () =>
    Effect.gen(function* () {
      const { signal, url } = yield* startNatsServer()
      const edge = yield* startNatsEdge(url, "transport")
      const port = Number(yield* edge.says(/^port (\d+)$/m))
      const publisher = yield* startNatsEdge(url, "publisher")
      yield* publisher.says(/^publishing$/m)
      const [early] = yield* openStreams(port, 1)
      yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => (early?.seen.length ?? 0) > 2 })
      yield* signal("SIGSTOP")
      const streams = yield* openStreams(port, 3)
      // Each waited for the backlog before, one behind the other, for five seconds.
      yield* Effect.repeat(Effect.sleep("20 millis"), {
        until: () => streams.every(({ seen }) => seen.length > 0)
      }).pipe(Effect.timeoutFail({ duration: "4 seconds", onTimeout: () => "no stream" }))
      expect(streams.map(({ seen }) => seen[0])).toEqual(
        streams.map(() => expect.stringMatching(/^counter \d+$|^milestone \d+$/))
      )
    })
  )
})

const openStreams = (port: number, count: number) =>
  Effect.acquireRelease(
    Effect.sync(() => Array.from({ length: count }, () => openStream(port))),
    (streams) => Effect.sync(() => closeAll(streams))
  )

const closeAll = (streams: ReadonlyArray<EventStream>) => {
  for (const { close } of streams) {
    close()
  }
}

/** What a client is to see that began with these: the last of each name until then, and all that follows. */
const expectedOf = (emitted: ReadonlyArray<string>, seen: ReadonlyArray<string>) => {
  const cut = Math.max(...seen.slice(0, 2).map((event) => emitted.indexOf(event))) + 1
  const before = emitted.slice(0, cut)
  const remembered = before.filter(
    (event, index) => !before.slice(index + 1).some((later) => later.split(" ")[0] === event.split(" ")[0])
  )
  return [...remembered, ...emitted.slice(cut)]
}

interface EventStream {
  /** The names and the payloads of the events. */
  readonly seen: ReadonlyArray<string>
  readonly close: () => void
}

const openStream = (port: number): EventStream => {
  const seen: Array<string> = []
  let rest = ""
  const socket = net.connect({ host: "127.0.0.1", port })
  socket.on("error", () => {})
  socket.on("data", (bytes) => {
    const frames = `${rest}${bytes.toString("latin1")}`.split("\n\n")
    rest = frames.pop() ?? ""
    for (const frame of frames) {
      const [, name, data] = /event: (.+)\ndata: (.+)$/.exec(frame) ?? []
      if (name !== undefined) {
        seen.push(`${name} ${data}`)
      }
    }
  })
  socket.write("GET /events HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
  return { seen, close: () => socket.destroy() }
}

/** Numbers from 0 to 1, always the same of a seed. */
const randomNumbers = (seed: number) => {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
