import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { makeProgressReporter } from "../../../src/layers/documents/progress.ts"
import type { SourceProgress } from "../../../src/services/ContentSource.ts"

it.effect("a wait is reported with the progress so far, and disappears with the next step", () =>
  Effect.gen(function* () {
    const told: Array<SourceProgress> = []
    const progress = yield* makeProgressReporter(2, (step) => Effect.sync(() => told.push(step)))
    const wait = { reason: "penalty", millis: 30_000 } as const
    yield* progress.waiting(wait)
    expect(told).toEqual([])
    yield* progress.report({ document: "Rooms", records: 1 })
    yield* progress.documentDone
    yield* progress.report({ document: "Objects", records: 100 })
    yield* progress.waiting(wait)
    yield* progress.report({ document: "Objects", records: 200 })
    const step = (records: number) => ({ document: "Objects", documents: { done: 1, total: 2 }, records })
    expect(told).toEqual([
      { document: "Rooms", documents: { done: 0, total: 2 }, records: 1 },
      step(100),
      { ...step(100), waiting: { reason: "penalty", until: "1970-01-01T00:00:30.000Z" } },
      step(200)
    ])
  })
)
