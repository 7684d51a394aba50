import { expect, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import { initial } from "../../../src/layers/fetching/contentState.ts"
import { makeReport } from "../../../src/layers/fetching/report.ts"
import type { ContentEvent } from "../../../src/services/ContentEvents.ts"
import { EventBus, EventBusError } from "../../../src/services/EventBus.ts"
import { withLog } from "../../support/logged.ts"

const promoted: ContentEvent = {
  name: "content:version:promoted",
  payload: { versionId: "2", versionPath: "versions/2", generatedAt: "2026-01-01T00:00:00.000Z" }
}
const started: ContentEvent = {
  name: "content:fetch:start",
  payload: { timestamp: "2026-01-01T00:00:00.000Z" }
}

it.effect("a failing bus is logged once, and the version is announced when it works again", () =>
  Effect.gen(function* () {
    const published: Array<string> = []
    const lines: Array<string> = []
    let publish: Effect.Effect<void, EventBusError> = Effect.void
    const report = yield* makeReport("tours", {
      get: Effect.succeed(initial),
      note: () => Effect.void,
      update: () => Effect.void
    }).pipe(
      Effect.provideService(EventBus, {
        publish: (name) => Effect.map(publish, () => void published.push(name)),
        subscribe: Effect.never,
        emptied: Stream.empty
      })
    )
    yield* Effect.gen(function* () {
      yield* report(started)
      publish = Effect.fail(new EventBusError({ action: "publish", detail: "no engine" }))
      yield* report(promoted)
      publish = Effect.die(new Error("a defect"))
      yield* report(started)
      publish = Effect.void
      yield* report(started)
      yield* report(started)
    }).pipe(withLog(lines))
    expect(published).toEqual([
      "tours:fetch:start",
      "tours:fetch:start",
      "tours:version:promoted",
      "tours:fetch:start"
    ])
    expect(lines).toEqual([
      "WARN The event bus could not publish an event: no engine. Clients learn of new versions from the manifest only, until it works again."
    ])
  })
)
