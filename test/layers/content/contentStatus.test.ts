import { describe, expect, it } from "@effect/vitest"
import * as Option from "effect/Option"
import * as ContentOverview from "../../../src/layers/content/ContentOverview.ts"
import { statusRows } from "../../../src/layers/content/contentStatus.ts"
import type { Lease, VersionOverview } from "../../../src/services/VersionStore.ts"

const versionId = "20261121T093000Z"
const until = Date.parse("2026-11-21T10:00:00Z")

const leases = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ consumerId: `screen-${index}`, versionId, until }))

const rowsOf = (...versions: ReadonlyArray<VersionOverview>) =>
  statusRows({
    overview: ContentOverview.empty,
    isLooking: false,
    held: undefined,
    versions,
    nextFetch: Option.none(),
    originRows: [],
    rowsOfSources: {}
  })

const active = (leases: ReadonlyArray<Lease>) => ({
  versionId,
  active: true,
  isWaiting: false,
  leases,
  isRead: false
})

const rowOf = (held: ReadonlyArray<Lease>) =>
  rowsOf(active(held))
    .flatMap((row) => (row.type === "list" ? row.items : []))
    .find((row) => row.type === "kv" && row.label === versionId)

describe("the consumers of a version in the status", () => {
  it("are listed, the first twenty of them", () => {
    const text = (count: number) => {
      const row = rowOf(leases(count))
      return row?.type === "kv" ? row.value : ""
    }
    expect(text(0)).toBe("active, not acknowledged")
    expect(text(1)).toBe("active, shown by screen-0 (kept until 2026-11-21T10:00:00.000Z)")
    expect(text(20)).toMatch(/, screen-19 \([^)]*\)$/)
    expect(text(20)).not.toContain("more")
    expect(text(256)).toMatch(/, screen-19 \([^)]*\) and 236 more$/)
  })

  it("come first and stand out where they have a problem", () => {
    const held = leases(30).map((lease, index) => (index === 29 ? { ...lease, problem: "no film" } : lease))
    expect(rowOf(held)).toMatchObject({
      tone: "warn",
      value: expect.stringMatching(
        /^active, shown by screen-29 \(kept until \S+; problem: no film\), screen-0/
      )
    })
  })

  it("are said in red where none of them shows the active version without a problem", () => {
    const older = (leases: ReadonlyArray<Lease>) => ({
      ...active(leases),
      active: false,
      versionId: "20261121T092900Z"
    })
    const rowOf = (...versions: ReadonlyArray<VersionOverview>) =>
      rowsOf(...versions).find((row) => row.type === "kv" && row.label === "Screens")
    const [lease] = leases(1)
    const fine = lease === undefined ? [] : [lease]
    const troubled = fine.map((lease) => ({ ...lease, problem: "no film" }))
    const row = {
      type: "kv",
      label: "Screens",
      value: "none shows it without a problem; screen-0: no film",
      tone: "error"
    }
    expect(rowOf(older(troubled), active([]))).toEqual(row)
    expect(rowOf(active(troubled))).toEqual(row)
    expect(rowOf(older(troubled), active(fine))).toBeUndefined()
    expect(rowOf(older(fine), active([]))).toBeUndefined()
    expect(rowOf(older(troubled))).toBeUndefined()
  })
})
