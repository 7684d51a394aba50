import { describe, expect, it } from "@effect/vitest"
import * as Arbitrary from "effect/Arbitrary"
import * as FastCheck from "effect/FastCheck"
import * as Schema from "effect/Schema"
import { advance, initial, withSources } from "../../../src/layers/fetching/contentState.ts"
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

const stateOf = (...events: ReadonlyArray<ContentEvent>) =>
  events.reduce(advance, withSources(["exhibits", "tours"])(initial))

describe("the state of a content plugin", () => {
  it("follows a source through its fetch", () => {
    expect(stateOf().sources.exhibits).toEqual({})
    const start: ContentEvent = {
      name: "content:source:start",
      payload: { timestamp, sourceId: "exhibits" }
    }
    expect(stateOf(start).sources).toEqual({
      exhibits: { fetchingSince: timestamp },
      tours: {}
    })
    const { sourceId, ...step } = progress
    const fetching: ContentEvent = { name: "content:source:progress", payload: progress }
    expect(stateOf(start, fetching).sources[sourceId]).toEqual({
      fetchingSince: timestamp,
      progress: step
    })
    expect(
      stateOf(start, fetching, { name: "content:source:done", payload: sourceDone }).sources[sourceId]
    ).toEqual({ lastSuccess: sourceDone })
  })

  it("remembers the last error beside the last success", () => {
    expect(
      stateOf(
        { name: "content:source:error", payload: { timestamp, sourceId: "exhibits", error } },
        { name: "content:source:done", payload: sourceDone }
      ).sources.exhibits
    ).toEqual({
      lastSuccess: sourceDone,
      lastError: { timestamp, message: "no network" }
    })
  })

  it("shows no source as being fetched after a fetch has ended, even if it was interrupted", () => {
    const state = stateOf(
      { name: "content:source:progress", payload: progress },
      { name: "content:source:error", payload: { timestamp, sourceId: "tours", error } },
      { name: "content:fetch:error", payload: { timestamp, error } }
    )
    expect(state.lastFetch).toEqual({ timestamp, error })
    expect(state.sources).toEqual({
      exhibits: {},
      tours: { lastError: { timestamp, message: "no network" } }
    })
  })

  it.prop(
    "is the same for events that were encoded as JSON and decoded",
    [FastCheck.array(Arbitrary.make(ContentEvent), { maxLength: 20 })],
    ([events]) => {
      const decode = Schema.decodeUnknownSync(Schema.parseJson(ContentEvent))
      expect(stateOf(...events.map((event) => decode(JSON.stringify(event))))).toEqual(stateOf(...events))
    },
    { fastCheck: { numRuns: 50 } }
  )
})
