import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { makePalette, statusText } from "../../../src/layers/terminal/statusText.ts"
import type { Row, StatusSnapshot } from "../../../src/services/ControllerState.ts"

const snapshot = (rows: ReadonlyArray<Row>): StatusSnapshot => ({
  header: { startTime: "2026-11-21T09:30:00.000Z", uptimeMs: 7_980_000, mode: "persistent" },
  sections: [{ name: "content", title: "Content", rows }]
})

const plain = (rows: ReadonlyArray<Row>) => statusText(snapshot(rows), makePalette(false))

describe("statusText", () => {
  it("sets out sections, rows and lists", () => {
    expect(
      plain([
        { type: "kv", label: "Active version", value: "20261121T093000Z" },
        { type: "kv", label: "Last fetch", value: "failed", tone: "error" },
        {
          type: "list",
          label: "Sources",
          items: [
            {
              type: "list",
              label: "exhibits",
              items: [{ type: "kv", label: "Now", value: "idle", tone: "ok" }]
            },
            { type: "list", label: "tours", items: [] },
            { type: "text", text: "two in all", tone: "neutral" }
          ]
        }
      ])
    ).toBe(
      [
        "Controller  running for 2 h 13 min, since 2026-11-21T09:30:00.000Z",
        "",
        "Content",
        "    Active version  20261121T093000Z",
        "  ✗ Last fetch      failed",
        "    Sources",
        "      exhibits",
        "      ✓ Now  idle",
        "      tours",
        "        none",
        "    · two in all"
      ].join("\n")
    )
  })

  it.prop(
    "writes no control character but line breaks of its own, whatever the values",
    [
      FastCheck.array(
        FastCheck.record({ label: FastCheck.constant("a"), value: FastCheck.fullUnicodeString() })
      )
    ],
    ([values]) => {
      const text = plain(values.map((value) => ({ type: "kv", ...value })))
      expect(text.split("\n")).toHaveLength(3 + values.length)
      expect(text).not.toMatch(/[^\P{Cc}\n]/u)
    }
  )

  it("colours only where that is wanted", () => {
    const rows: ReadonlyArray<Row> = [{ type: "kv", label: "a", value: "b", tone: "error" }]
    expect(statusText(snapshot(rows), makePalette(true))).toContain("\u001b[31m")
    expect(plain(rows)).not.toContain("\u001b")
  })
})
