import { describe, expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import type * as MetricKeyType from "effect/MetricKeyType"
import * as Option from "effect/Option"
import * as Record from "effect/Record"
import { makeRecorder, metrics } from "../../../src/layers/httpTransport/statistics.ts"

const readMetrics = (transport: string) => {
  const value = <A extends MetricKeyType.MetricKeyType.Untyped, I, O>(metric: Metric.Metric<A, I, O>) =>
    Metric.value(Metric.tagged(metric, "transport", transport))
  return Effect.all({
    clients: value(metrics.clients),
    mostClients: value(metrics.mostClients),
    clientsDropped: value(metrics.clientsDropped),
    eventsForwarded: value(metrics.eventsForwarded),
    framesMissed: value(metrics.framesMissed),
    lastEvent: value(metrics.lastEvent)
  }).pipe(Effect.map(Record.map((state) => ("count" in state ? state.count : state.value))))
}

describe("the statistics of a transport", () => {
  it.effect("count clients, events and losses, and are metrics of its name as well", () =>
    Effect.gen(function* () {
      let now = 500
      const recorder = makeRecorder("desk", () => now)
      const other = makeRecorder("wall")
      other.joined()

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

      const counts = { clients: 1, mostClients: 3, clientsDropped: 1, framesMissed: 5, eventsForwarded: 2 }
      expect(recorder.statistics()).toEqual({
        ...counts,
        lastMissed: Option.some(new Date(1000)),
        lastEvent: Option.some({ name: "content:b", at: new Date(2500) })
      })
      expect(yield* readMetrics("desk")).toEqual({ ...counts, lastEvent: 2.5 })
      expect(yield* readMetrics("wall")).toMatchObject({ clients: 1, mostClients: 1, eventsForwarded: 0 })
    })
  )
})
