import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import wrap from "wrap-ansi"
import { makePalette, statusText } from "../../../../src/layers/cli/terminal/statusText.ts"
import type { Row } from "../../../../src/services/ControllerState.ts"
import type { View } from "../../../../src/services/View.ts"

/** Local, so that the texts are the same everywhere. */
const now = new Date(2026, 10, 21, 11, 43).getTime()
const ago = (millis: number) => new Date(now - millis).toISOString()

const viewOf = (rows: ReadonlyArray<Row>): View => ({
  header: { startTime: ago(7_980_000), uptimeMs: 7_980_000, mode: "persistent" },
  sections: [{ name: "content", title: "Content", rows }],
  now,
  word: "OK",
  problems: [],
  contents: [],
  screens: [],
  mutes: []
})

const plain = (rows: ReadonlyArray<Row>) => statusText(viewOf(rows), { palette: makePalette(false) })

describe("statusText", () => {
  it("folds long lines between words, as wide as the terminal", () => {
    const value = "one two three four five six seven"
    const terminal = { columns: 40, rows: 24, wrap }
    const view: View = {
      ...viewOf([{ type: "kv", label: "Words", value, tone: "warn" }]),
      problems: [{ code: "a", severity: "warning", text: `${value} ${value}` }]
    }
    const text = statusText(view, {
      palette: makePalette(false),
      terminal
    })
    const lines = text.split("\n")
    expect(lines.every(({ length }) => length <= terminal.columns)).toBe(true)
    expect(lines.slice(1, 3)).toEqual([
      "  ! one two three four five six",
      "      seven one two three four five six"
    ])
    expect(lines.slice(-2)).toEqual(["  ! Words  one two three four five", "      six seven"])
  })

  it("prints sections, rows and lists", () => {
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
        "OK",
        "",
        "Controller  running since 09:30:00 (2 h 13 min ago)",
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

  it.each([
    [{ id: "hall-3", label: "Hall\u001b 3" }, "Hall 3"],
    [{ id: "hall-3", role: "player" }, "hall-3"]
  ])("names the machine by its label or else its id: %o", (node, name) => {
    const view = viewOf([])
    const text = statusText({ ...view, header: { ...view.header, node } }, { palette: makePalette(false) })
    expect(text).toContain(`\nController  ${name}, running since `)
  })

  it("ends with the word and its reasons as well, where the terminal has fewer rows", () => {
    const row: Row = { type: "text", text: "…" }
    const text = (rows: number) =>
      statusText(viewOf([row]), { palette: makePalette(false), terminal: { columns: 80, rows, wrap } })
    expect(text(7)).toMatch(/^OK\n[\s\S]*…$/)
    expect(text(6)).toMatch(/^OK\n[\s\S]*…\n\nOK$/)
  })

  it("begins with the word of the health and its reasons", () => {
    const failing: View = {
      ...viewOf([]),
      word: "FAILING",
      problems: [
        {
          code: "content:failing",
          severity: "error",
          text: `Fetches of "content" have failed since ${ago(60_000)}: no\u001b network`
        },
        { code: "transport:full", severity: "warning", text: "HTTP transport: full", count: 3 }
      ]
    }
    const text = (isColourful: boolean) =>
      statusText(failing, { palette: makePalette(isColourful) }).split("\n")
    expect(text(false).slice(0, 4)).toEqual([
      "FAILING",
      '  ✗ Fetches of "content" have failed since 11:42:00 (1 min ago): no network',
      "  ! HTTP transport: full (3 times since the start)",
      ""
    ])
    expect(text(true)[0]).toMatch(/\u001b\[7m.*\u001b\[31m.* FAILING /)
  })

  it.prop(
    "writes no control characters except its own line breaks",
    [
      FastCheck.array(
        FastCheck.record({ label: FastCheck.fullUnicodeString(), value: FastCheck.fullUnicodeString() })
      )
    ],
    ([values]) => {
      const text = plain(values.map((value) => ({ type: "kv", ...value })))
      expect(text.split("\n")).toHaveLength(5 + values.length)
      expect(text).not.toMatch(/[^\P{Cc}\n]/u)
    }
  )

  it("shows each time as a local time and relative to now", () => {
    const rows: ReadonlyArray<Row> = [
      { type: "kv", label: "Next fetch", value: ago(-8000) },
      { type: "kv", label: "Version", value: `shown by left (kept until ${ago(0)})` },
      { type: "text", text: `${ago(86_400_000)}, failed, 20261121T093000Z` }
    ]
    expect(plain(rows).split("\n").slice(5)).toEqual([
      "    Next fetch  11:43:08 (in 8 s)",
      "    Version     shown by left (kept until 11:43:00 (now))",
      "    2026-11-20 11:43:00 (1 d ago), failed, 20261121T093000Z"
    ])
  })

  it("has colours only if they are enabled", () => {
    const rows: ReadonlyArray<Row> = [{ type: "kv", label: "a", value: "b", tone: "error" }]
    expect(statusText(viewOf(rows), { palette: makePalette(true) })).toContain("\u001b[31m")
    expect(plain(rows)).not.toContain("\u001b")
  })
})
