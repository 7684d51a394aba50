import { describe, expect, it } from "@effect/vitest"
import { prometheusText } from "../../../src/layers/dashboard/metrics.ts"
import { playerMetrics } from "../../../src/layers/screens/PlayersReport.ts"
import type { PlayerStatus } from "../../../src/services/View.ts"

const problem = { code: "a", severity: "warning", text: "…" } as const
const player: PlayerStatus = {
  id: 'hall "3"\\\n',
  name: "Hall 3",
  isExpected: true,
  word: "up to date",
  problems: [],
  lastReport: {
    vitrine: "0.1.0",
    sentAt: "1970-01-01T00:00:01.000Z",
    node: { id: 'hall "3"\\\n' },
    host: "box",
    runId: "a",
    startTime: "1970-01-01T00:00:00.000Z",
    freeDisk: 1_000_000,
    problems: [{ ...problem, severity: "error" }, problem, problem],
    screens: [
      { id: "a", word: "showing" },
      { id: "b", word: "showing" },
      { id: "c", word: "closed" }
    ],
    warnings: [],
    heardAt: "1970-01-01T00:00:01.500Z",
    address: "10.0.0.3",
    clockOffset: -250
  }
}
const unseen: PlayerStatus = {
  id: "hall-4",
  name: "Hall 4",
  isExpected: true,
  word: "never seen",
  problems: []
}

const textOf = (players: ReadonlyArray<PlayerStatus>) => prometheusText(playerMetrics(players))

const samplesOf = (players: ReadonlyArray<PlayerStatus>) =>
  textOf(players)
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))

describe("the metrics of players", () => {
  it("have the values that each player has reported", () => {
    const id = 'player="hall \\"3\\"\\\\\\n"'
    expect(samplesOf([player, unseen])).toEqual([
      `vitrine_player_clock_offset_seconds{${id}} -0.25`,
      `vitrine_player_free_disk_bytes{${id}} 1000000`,
      `vitrine_player_info{${id},label="Hall 3",host="box",version="0.1.0"} 1`,
      `vitrine_player_last_report_timestamp_seconds{${id}} 1.5`,
      `vitrine_player_problems{${id},severity="error"} 1`,
      `vitrine_player_problems{${id},severity="warning"} 2`,
      `vitrine_player_screens{${id},word="showing"} 2`,
      `vitrine_player_screens{${id},word="closed"} 1`,
      `vitrine_player_up{${id}} 1`,
      'vitrine_player_up{player="hall-4"} 0'
    ])
  })

  it("show that a player is silent, and that no screen shows anything", () => {
    const lastReport = player.lastReport && { ...player.lastReport, screens: [] }
    const samples = samplesOf([{ ...player, id: "a", word: "silent", ...(lastReport && { lastReport }) }])
    expect(samples).toContain('vitrine_player_up{player="a"} 0')
    expect(samples).toContain('vitrine_player_screens{player="a",word="showing"} 0')
  })
})
