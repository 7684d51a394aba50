import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import { makeRecorder, metrics } from "../../../src/layers/httpTransport/statistics.ts"

const readMetrics = Effect.all({
  clients: Metric.value(metrics.clients),
  mostClients: Metric.value(metrics.mostClients),
  clientsDropped: Metric.value(metrics.clientsDropped),
  eventsForwarded: Metric.value(metrics.eventsForwarded),
  framesMissed: Metric.value(metrics.framesMissed),
  lastEvent: Metric.value(metrics.lastEvent)
}).pipe(Effect.map(Record.map((state) => ("count" in state ? state.count : state.value))))

describe("the statistics of a transport", () => {
  it.effect("count clients, events and losses, and are metrics as well", () =>
    Effect.gen(function* () {
      let now = 500
      const recorder = makeRecorder(() => now)
      const before = yield* readMetrics

      recorder.joined()
      recorder.joined()
      recorder.joined()
      recorder.left(0)
      recorder.missed(0)
      expect(recorder.statistics().lastMissed).toEqual(Option.none())
      recorder.left(2)
      expect(recorder.statistics().lastMissed).toEqual(Option.some(new Date(500)))
      now = 1000
      recorder.missed(3)
      recorder.forwarded("content:a", 1500)
      recorder.forwarded("content:b", 2500)

      expect(recorder.statistics()).toEqual({
        clients: 1,
        mostClients: 3,
        clientsDropped: 1,
        framesMissed: 5,
        lastMissed: Option.some(new Date(1000)),
        eventsForwarded: 2,
        lastEvent: Option.some({ name: "content:b", at: new Date(2500) })
      })
      expect(yield* readMetrics).toEqual({
        clients: before.clients + 1,
        mostClients: Math.max(before.mostClients, before.clients + 3),
        clientsDropped: before.clientsDropped + 1,
        framesMissed: before.framesMissed + 5,
        eventsForwarded: before.eventsForwarded + 2,
        lastEvent: 2.5
      })
    })
  )

  it.effect("sum up the event streams of several transports", () =>
    Effect.gen(function* () {
      const before = yield* readMetrics
      const recorders = Array.from({ length: before.mostClients - before.clients + 2 }, makeRecorder)
      for (const { joined } of recorders) {
        joined()
      }
      const most = before.mostClients + 2
      expect(yield* readMetrics).toMatchObject({ clients: most, mostClients: most })
      for (const { left } of recorders) {
        left(0)
      }
      expect(yield* readMetrics).toMatchObject({ clients: before.clients, mostClients: most })
    })
  )
})
