import { describe, expect, it } from "@effect/vitest"
import { rows } from "../../../src/layers/status/content.ts"
import { healthOf } from "../../../src/layers/status/Health.ts"
import type { Row } from "../../../src/services/ControllerState.ts"
import type { ContentState } from "../../../src/services/Slices.ts"
import type { Lease, VersionOverview } from "../../../src/services/VersionStore.ts"

const versionId = "20261121T093000Z"
const older = "20261121T092900Z"
const heardAt = Date.parse("2026-11-21T09:30:00Z")
const until = Date.parse("2026-11-21T10:00:00Z")

const lease = { consumerId: "screen-0", versionId, until, heardAt, isSilent: false }
const silent = { ...lease, consumerId: "screen-1", isSilent: true }
const troubled = {
  ...lease,
  consumerId: "screen-2",
  problem: "no film",
  problemSince: Date.parse("2026-11-21T09:29:00Z")
}

const leases = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ ...lease, consumerId: `screen-${index}` }))

const sliceOf = (versions: ReadonlyArray<VersionOverview>): ContentState => ({
  kind: "content",
  versionId,
  sources: {},
  versions
})

const rowsOf = (...versions: ReadonlyArray<VersionOverview>) => rows(sliceOf(versions))

const active = (leases: ReadonlyArray<Lease>) => ({
  versionId,
  active: true,
  isWaiting: false,
  leases,
  isRead: false
})

const behind = (leases: ReadonlyArray<Lease>) => ({ ...active(leases), active: false, versionId: older })

const itemsOf = (label: string, rows: ReadonlyArray<Row>) =>
  rows.flatMap((row) => (row.type === "list" && row.label === label ? row.items : []))

const screensOf = (...versions: ReadonlyArray<VersionOverview>) => itemsOf("Screens", rowsOf(...versions))

const problemsOf = (...versions: ReadonlyArray<VersionOverview>) =>
  rowsOf(...versions).filter((row) => row.type === "text")

describe("the screens in the status", () => {
  it("are listed with what they show and when they were last heard of, those that are silent at the end", () => {
    const time = "2026-11-21T09:30:00.000Z"
    expect(
      screensOf(behind([silent, { ...lease, consumerId: "screen-3", versionId: older }]), active([lease]))
    ).toEqual([
      {
        type: "kv",
        label: "screen-3",
        value: `shows version ${older}, heard of at ${time}`,
        tone: "neutral"
      },
      { type: "kv", label: "screen-0", value: `shows the active version, heard of at ${time}`, tone: "ok" },
      { type: "kv", label: "screen-1", value: `silent, last heard of at ${time}`, tone: "neutral" }
    ])
    expect(screensOf(active([]))).toEqual([])
  })

  it("are the first twenty", () => {
    expect(screensOf(active(leases(20)))).toHaveLength(20)
    expect(screensOf(active(leases(256))).slice(20)).toEqual([
      { type: "text", text: "and 236 more", tone: "neutral" }
    ])
  })

  it("are counted for each version, which says until when a lease keeps it", () => {
    const values = itemsOf("Versions on disk", rowsOf(behind([silent]), active([lease, troubled, silent])))
    expect(values).toEqual([
      { type: "kv", label: older, value: "on no screen, kept until 2026-11-21T10:00:00.000Z" },
      { type: "kv", label: versionId, value: "active, on 2 screens" }
    ])
  })
})

describe("what a screen cannot show", () => {
  const text = "Screen screen-2 has a problem since 2026-11-21T09:29:00.000Z: no film"

  it("is one sentence: which screen, since when, and what", () => {
    expect(problemsOf(active([lease, troubled]))).toEqual([{ type: "text", text, tone: "warn" }])
    expect(problemsOf(active([lease, silent]))).toEqual([])
    expect(screensOf(active([lease, troubled]))[1]).toEqual({
      type: "kv",
      label: "screen-2",
      value: "has a problem, heard of at 2026-11-21T09:30:00.000Z",
      tone: "neutral"
    })
  })

  it("is a warning of one sentence of the whole controller", () => {
    const { problems } = healthOf(
      {
        system: { startTime: "2026-11-21T09:00:00.000Z", mode: "persistent" },
        plugins: { content: sliceOf([active([lease, troubled])]) },
        _version: 1
      },
      [],
      heardAt
    )
    expect(problems).toEqual([{ code: "content:screen", severity: "warning", text }])
  })

  it("is said of twenty screens, and how many more there are", () => {
    const many = leases(22).map((lease) => ({ ...lease, problem: "no film", problemSince: heardAt }))
    expect(problemsOf(active([lease, ...many])).slice(20)).toEqual([
      { type: "text", text: "2 more screens with a problem", tone: "warn" }
    ])
  })

  it("is said in red where no screen shows the active version without a problem", () => {
    const tones = (...versions: ReadonlyArray<VersionOverview>) =>
      problemsOf(...versions).map(({ tone }) => tone)
    expect(tones(behind([troubled]), active([]))).toEqual(["error"])
    expect(tones(active([troubled, silent]))).toEqual(["error"])
    expect(tones(behind([troubled]), active([lease]))).toEqual(["warn"])
    expect(tones(behind([lease]), active([]))).toEqual([])
    expect(tones(behind([troubled]))).toEqual(["warn"])
  })
})
