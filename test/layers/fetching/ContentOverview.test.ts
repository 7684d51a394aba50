import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import * as ContentOverview from "../../../src/layers/fetching/ContentOverview.ts"
import { ContentEvent } from "../../../src/services/ContentEvents.ts"

const timestamp = "2026-11-21T09:30:00.000Z"
const error = { name: "SourceFailed", message: "no network" }
const progress = {
  sourceId: "exhibits",
  document: "Objects",
  documents: { done: 0, total: 2 },
  records: 100,
  waiting: { reason: "penalty", until: "2026-11-21T09:30:30.000Z" }
} as const
const sourceDone = { timestamp, sourceId: "exhibits", records: 100, bytes: 2048, durationMs: 12 }

const overviewOf = (...events: ReadonlyArray<ContentEvent>) =>
  events.reduce(
    ContentOverview.advance,
    ContentOverview.withSources(["exhibits", "tours"])(ContentOverview.empty)
  )

describe("ContentOverview", () => {
  it("follows a source through its fetch", () => {
    expect(overviewOf().sources.exhibits).toEqual({ activity: { _tag: "Idle" } })
    const start: ContentEvent = {
      name: "content:source:start",
      payload: { timestamp, sourceId: "exhibits" }
    }
    expect(overviewOf(start).sources).toEqual({
      exhibits: { activity: { _tag: "Starting" } },
      tours: { activity: { _tag: "Idle" } }
    })
    const { sourceId, ...step } = progress
    const fetching: ContentEvent = { name: "content:source:progress", payload: progress }
    expect(overviewOf(start, fetching).sources[sourceId]).toEqual({
      activity: { _tag: "Fetching", progress: step }
    })
    expect(
      overviewOf(start, fetching, { name: "content:source:done", payload: sourceDone }).sources[sourceId]
    ).toEqual({ activity: { _tag: "Idle" }, lastSuccess: sourceDone })
  })

  it("remembers the last error beside the last success", () => {
    expect(
      overviewOf(
        { name: "content:source:error", payload: { timestamp, sourceId: "exhibits", error } },
        { name: "content:source:done", payload: sourceDone }
      ).sources.exhibits
    ).toEqual({
      activity: { _tag: "Idle" },
      lastSuccess: sourceDone,
      lastError: { timestamp, message: "no network" }
    })
  })

  it("takes nobody for busy when a fetch has ended, though one source was interrupted", () => {
    const overview = overviewOf(
      { name: "content:source:progress", payload: progress },
      { name: "content:source:error", payload: { timestamp, sourceId: "tours", error } },
      { name: "content:fetch:error", payload: { timestamp, error } }
    )
    expect(overview.lastFetch).toEqual({ _tag: "Failed", timestamp, message: "no network" })
    expect(Object.values(overview.sources).map(({ activity }) => activity._tag)).toEqual(["Idle", "Idle"])
  })

  it.prop(
    "reads the same from events that have been JSON",
    [FastCheck.array(Arbitrary.make(ContentEvent), { maxLength: 20 })],
    ([events]) => {
      const decode = Schema.decodeUnknownSync(Schema.parseJson(ContentEvent))
      expect(overviewOf(...events.map((event) => decode(JSON.stringify(event))))).toEqual(
        overviewOf(...events)
      )
    },
    { fastCheck: { numRuns: 50 } }
  )
})
