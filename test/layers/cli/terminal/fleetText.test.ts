import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { fleetText } from "../../../../src/layers/cli/terminal/fleetText.ts"
import { makePalette } from "../../../../src/layers/cli/terminal/statusText.ts"
import type { PlayerStatus } from "../../../../src/services/View.ts"
import { wellPlayer } from "../../../support/fleet.ts"

const now = Date.parse("2026-11-21T12:00:00.000Z")
const ago = (seconds: number) => new Date(now - seconds * 1000).toISOString()

const lastReport = wellPlayer("hall-1", ago(5), {
  versionId: "20261121T093000Z",
  screens: [
    { id: "left", word: "showing" },
    { id: "right", word: "showing" }
  ]
})

const good = (id: string): PlayerStatus => ({
  id,
  name: id,
  isExpected: true,
  word: "up to date",
  problems: [],
  since: ago(8000),
  lastReport
})
const silent = (id: string): PlayerStatus => ({
  ...good(id),
  word: "silent",
  since: ago(200),
  lastReport: { ...lastReport, heardAt: ago(200) },
  problems: [{ code: "player:silent", severity: "error", subject: id, text: "…" }]
})
const closed = {
  code: "screen:closed",
  severity: "error",
  text: "Screen Left wall was closed at noon"
} as const
const failing: PlayerStatus = {
  ...good("Hall 2"),
  word: "problem",
  since: ago(7300),
  lastReport: {
    ...lastReport,
    problems: [closed],
    screens: [
      { id: "left", word: "closed" },
      { id: "right", word: "showing" },
      { id: "top", word: "showing" }
    ]
  },
  problems: [closed]
}
const unseen: PlayerStatus = {
  id: "hall-9",
  name: "Hall 9",
  isExpected: true,
  word: "never seen",
  since: ago(61),
  problems: [{ code: "player:never-seen", severity: "error", text: "…" }]
}

const linesOf = (players: ReadonlyArray<PlayerStatus>) =>
  fleetText(players, { now, palette: makePalette(false) }).split("\n")

describe("the text of a fleet", () => {
  it("begins with a summary, and has a row for each player", () => {
    expect(linesOf([silent("Hall 1"), unseen, failing, good("Hall 3")])).toEqual([
      "1 of 4 players are up to date; 1 silent, 1 never seen, 1 with a problem",
      "  player  state       version           last    screens and problems",
      "                                        report",
      "✗ Hall 1  silent      20261121T093000Z  3 min",
      "✗ Hall 9  never seen                    never",
      "✗ Hall 2  problem     20261121T093000Z  5 s     1 closed, 2 showing; Screen Left",
      "                                                wall was closed at noon",
      "✓ Hall 3  up to date  20261121T093000Z  5 s     2 showing"
    ])
  })

  it("marks players that are not expected, if some are", () => {
    const stranger = { ...good("Hall 4"), isExpected: false }
    expect(linesOf([good("Hall 3"), stranger]).at(-1)).toMatch(/^✓ Hall 4 .* 2 showing; not expected$/)
    expect(linesOf([stranger]).at(-1)).toMatch(/ 2 showing$/)
  })

  it("shows the percentage of a copy, and that a player has no version", () => {
    const copying = {
      ...good("a"),
      word: "copying",
      lastReport: { ...lastReport, copiedPercent: 40.7 }
    } as const
    const { versionId: _, ...empty } = lastReport
    const behind = { ...good("b"), word: "behind", lastReport: empty } as const
    expect(linesOf([behind, copying]).slice(3)).toEqual([
      "· b       behind        none              5 s     2 showing; no version",
      "· a       copying 40 %  20261121T093000Z  5 s     2 showing"
    ])
  })

  it("has its colours from the palette", () => {
    const text = fleetText([failing], { now, palette: makePalette(true) })
    expect(text.split("\n")[3]).toMatch(/^\u001b\[31m✗\u001b\[39m \u001b\[31mHall 2 /)
    expect(linesOf([failing]).join()).not.toContain("\u001b")
  })

  it("aligns the columns behind names in wide and in combined characters", () => {
    const lines = linesOf([good("展示室"), good("Hallx\u0302"), good("Hall 3")]).slice(3)
    expect(lines.map((line) => line.slice(0, line.indexOf("date")))).toEqual([
      "✓ 展示室  up to ",
      "✓ Hallx\u0302   up to ",
      "✓ Hall 3  up to "
    ])
  })

  it("says that no player has reported", () => {
    expect(linesOf([])).toEqual(["No player has reported yet"])
  })

  const word = FastCheck.string({
    unit: FastCheck.constantFrom("a", "Ω", "x", "7"),
    minLength: 1,
    maxLength: 12
  })
  const words = FastCheck.array(word, { minLength: 1, maxLength: 8 }).map((all) => all.join(" "))
  const player = FastCheck.oneof(
    FastCheck.constantFrom(unseen, silent("Hall 1")),
    words.map(good),
    words.map(
      (text): PlayerStatus => ({ ...failing, lastReport: { ...lastReport, problems: [{ ...closed, text }] } })
    ),
    words.map((name): PlayerStatus => ({ ...good(name), word: "closed for the day" }))
  )
  it.prop(
    "is 80 characters wide, and breaks no word",
    { players: FastCheck.array(player, { minLength: 1, maxLength: 50 }) },
    ({ players }) => {
      const lines = linesOf(players)
      expect(lines.filter((line) => Array.from(line).length > 80)).toEqual([])
      expect(lines.filter((line) => /^[✗✓·!] /.test(line))).toHaveLength(players.length)
      const shown = new Set(lines.flatMap((line) => line.split(/[ ;]+/)))
      const expected = players.flatMap(({ lastReport, name }) =>
        [name, ...(lastReport?.problems ?? []).map(({ text }) => text)].flatMap((text) => text.split(" "))
      )
      expect(expected.filter((word) => !shown.has(word))).toEqual([])
    }
  )
})
