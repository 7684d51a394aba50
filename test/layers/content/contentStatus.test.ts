import { describe, expect, it } from "@effect/vitest"
import * as Option from "effect/Option"
import * as ContentOverview from "../../../src/layers/content/ContentOverview.ts"
import { statusRows } from "../../../src/layers/content/contentStatus.ts"

const versionId = "20261121T093000Z"
const until = Date.parse("2026-11-21T10:00:00Z")

const leases = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ consumerId: `screen-${index}`, versionId, until }))

const rowOf = (held: ReturnType<typeof leases>) =>
  statusRows({
    overview: ContentOverview.empty,
    held: undefined,
    versions: [{ versionId, active: true, isWaiting: false, leases: held, isRead: false }],
    nextFetch: Option.none(),
    originRows: [],
    rowsOfSources: {}
  })
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
})
