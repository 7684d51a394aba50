import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { vitrineVersion } from "../../../../src/internal/vitrineVersion.ts"
import { fleetText } from "../../../../src/layers/cli/terminal/fleetText.ts"
import { makePalette } from "../../../../src/layers/cli/terminal/statusText.ts"
import type { PlayerStatus } from "../../../../src/layers/status/players.ts"
import type { Player } from "../../../../src/services/PlayerReport.ts"

const now = Date.parse("2026-11-21T12:00:00.000Z")
const ago = (seconds: number) => new Date(now - seconds * 1000).toISOString()

const said: Player = {
  vitrine: vitrineVersion,
  sentAt: ago(5),
  node: { id: "hall-1" },
  host: "box",
  runId: "a",
  startTime: ago(9000),
  versionId: "20261121T093000Z",
  problems: [],
  screens: [
    { id: "left", word: "showing" },
    { id: "right", word: "showing" }
  ],
  warnings: [],
  heardAt: ago(5),
  address: "10.0.0.1",
  clockOffset: 0
}

const good = (id: string): PlayerStatus => ({
  id,
  name: id,
  isExpected: true,
  word: "up to date",
  problems: [],
  since: ago(8000),
  said
})
const silent = (id: string): PlayerStatus => ({
  ...good(id),
  word: "silent",
  since: ago(200),
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
  said: {
    ...said,
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

const named = (name: string, count: number, player: (id: string) => PlayerStatus) =>
  Array.from({ length: count }, (_, index) => player(`${name} ${index + 1}`))

const linesOf = (players: ReadonlyArray<PlayerStatus>, size: { columns?: number; rows?: number } = {}) =>
  fleetText(players, { columns: 80, rows: 24, ...size, now, palette: makePalette(false) }).split("\n")

describe("the text of a fleet", () => {
  it("begins with a summary, and has a line for each player with a problem", () => {
    expect(linesOf([silent("Hall 1"), unseen, failing, good("Hall 3")])).toEqual([
      "1 of 4 players are up to date; 1 silent, 1 never seen, 1 with a problem",
      "  player  state       since  screens              problem",
      "✗ Hall 1  silent      3 min",
      "✗ Hall 9  never seen  1 min",
      "✗ Hall 2  problem     2 h    1 closed, 2 showing  Screen Left wall was closed a…",
      "✓ Hall 3  up to date  2 h    2 showing"
    ])
  })

  it("marks players that are not expected, if some are", () => {
    const stranger = { ...good("Hall 4"), isExpected: false }
    expect(linesOf([good("Hall 3"), stranger])[3]).toBe(
      "✓ Hall 4  up to date  2 h    2 showing  not expected"
    )
    expect(linesOf([stranger])[2]).toBe("✓ Hall 4  up to date  2 h    2 showing")
  })

  it("shows the percentage of a copy, and the version of a player that is behind", () => {
    const copying = { ...good("a"), word: "copying", said: { ...said, copiedPercent: 40.7 } } as const
    const behind = { ...good("b"), word: "behind" } as const
    expect(linesOf([behind, copying]).slice(2)).toEqual([
      "· b       behind        2 h    2 showing  version 20261121T093000Z",
      "· a       copying 40 %  2 h    2 showing"
    ])
  })

  it("fits forty players on 80 by 24 characters, with a line for each that has a problem", () => {
    const lines = linesOf([...named("Hall", 2, silent), ...named("Room", 38, good)])
    expect(lines.slice(0, 5)).toEqual([
      "38 of 40 players are up to date; 2 silent",
      "  player  state   since  screens  problem",
      "✗ Hall 1  silent  3 min",
      "✗ Hall 2  silent  3 min",
      "✓ Room 1   ✓ Room 2   ✓ Room 3   ✓ Room 4   ✓ Room 5   ✓ Room 6   ✓ Room 7"
    ])
    expect(lines.at(-1)).toBe("✓ Room 36  ✓ Room 37  ✓ Room 38")
    expect(lines).toHaveLength(10)
  })

  it("counts the players that are up to date and have no room", () => {
    const lines = linesOf([...named("Hall", 3, silent), ...named("Room", 37, good)], { rows: 8, columns: 40 })
    expect(lines.slice(2)).toEqual([
      "✗ Hall 1  silent  3 min",
      "✗ Hall 2  silent  3 min",
      "✗ Hall 3  silent  3 min",
      "✓ Room 1   ✓ Room 2   ✓ Room 3",
      "and 34 more are up to date"
    ])
  })

  it("shows all of forty silent players", () => {
    const lines = linesOf(named("Hall", 40, silent))
    expect(lines.length).toBeLessThan(24)
    expect(lines.join("\n").match(/Hall \d+/g)).toHaveLength(40)
    expect(lines.join("\n").match(/silent +3 min/g)).toHaveLength(40)
  })

  it("counts the other players that have no room by their states", () => {
    const lines = linesOf([...named("Hall", 500, silent), ...named("Room", 500, good)])
    expect(lines).toHaveLength(22)
    expect(lines.at(-1)).toMatch(/^and 9\d\d more: 4\d\d silent, 500 up to date$/)
  })

  it("says that no player has reported", () => {
    expect(linesOf([])).toEqual(["No player has reported yet"])
  })

  const player = FastCheck.constantFrom(silent("a".repeat(64)), failing, unseen, good("Ω".repeat(10)))
  it.prop(
    "fits on the terminal, and has each player with a problem or their number",
    {
      players: FastCheck.array(player, { maxLength: 200 }),
      rows: FastCheck.integer({ min: 5, max: 60 }),
      columns: FastCheck.integer({ min: 40, max: 200 })
    },
    ({ columns, players, rows }) => {
      const sorted = players.toSorted(
        (one, other) => Number(one.word === "up to date") - Number(other.word === "up to date")
      )
      const lines = linesOf(sorted, { columns, rows })
      expect(lines.length).toBeLessThan(rows)
      const [summary, ...others] = lines
      expect(summary).toContain("player")
      for (const line of others) {
        expect(Array.from(line).length).toBeLessThanOrEqual(columns)
      }
      const shown = others.join("\n").match(/[✗✓] /g)?.length ?? 0
      const [, more = "0"] = /^and (\d+) more/.exec(lines.at(-1) ?? "") ?? []
      expect(shown + Number(more)).toBe(players.length)
    }
  )
})
