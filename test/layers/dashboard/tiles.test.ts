import { describe, expect, it } from "@effect/vitest"
import {
  maxAsked,
  maxTiles,
  maxUnwell,
  playerTiles,
  screenTiles
} from "../../../src/layers/dashboard/tiles.ts"
import type { Screen } from "../../../src/services/Slices.ts"
import type { PlayerStatus, ScreenStatus } from "../../../src/services/View.ts"
import { wellPlayer } from "../../support/fleet.ts"

const at = "2026-11-21T09:30:00.000Z"
const active = "20261121T093000Z"
const older = "20261121T080000Z"

const lastReport: Screen = { id: "left", versionId: active, shownSince: at, heardAt: at, until: at }

const screen = (status: Partial<ScreenStatus> = {}): ScreenStatus => ({
  id: "left",
  name: "Left wall",
  isExpected: true,
  word: "showing",
  problems: [],
  since: at,
  active: true,
  lastReport,
  ...status
})

const report = wellPlayer("hall-3", at, { versionId: active })

const player = (status: Partial<PlayerStatus> = {}): PlayerStatus => ({
  id: "hall-3",
  name: "Hall 3",
  isExpected: true,
  word: "up to date",
  problems: [],
  lastReport: report,
  ...status
})

const tileOf = (status: Partial<PlayerStatus>) => playerTiles([player(status)]).shown[0]

const problem = (code: string, severity: "error" | "warning", text: string, subject?: string) => ({
  code,
  severity,
  text,
  ...(subject === undefined ? {} : { subject })
})

describe("the tile of a screen", () => {
  it("has its name, its state since when, and its colour", () => {
    expect(screenTiles([screen()])).toEqual({
      shown: [{ name: "Left wall", word: "showing", tone: "ok", since: at, versionId: active }],
      words: { showing: 1 }
    })
  })

  it("has the version that it shows, and its problem", () => {
    const { shown } = screenTiles([
      screen({
        word: "problem",
        active: false,
        lastReport: { ...lastReport, versionId: older, problem: "no film" },
        problems: [problem("screen:problem", "warning", "Screen Left wall has a problem")]
      })
    ])
    expect(shown).toEqual([
      {
        name: "Left wall",
        word: "problem",
        tone: "warn",
        since: at,
        versionId: older,
        text: "no film"
      }
    ])
  })

  it("is grey if an unexpected screen is away", () => {
    const { shown } = screenTiles([screen({ isExpected: false, word: "silent" })])
    expect(shown).toMatchObject([{ word: "silent", tone: "neutral" }])
  })
})

describe("the screens of a tile", () => {
  it("can be asked by their ids, those of a player at its hub, as long as there are not too many", () => {
    expect(screenTiles([screen({ content: "archive" })]).shown).toMatchObject([
      { content: "archive", asked: [{ id: "left", name: "Left wall" }] }
    ])
    const screens = [
      { id: "one", label: "North", word: "hidden" },
      { id: "two", word: "showing" }
    ]
    expect(tileOf({ lastReport: { ...report, screens } })).toMatchObject({
      asked: [
        { id: "hall-3/one", name: "North" },
        { id: "hall-3/two", name: "two" }
      ]
    })
    const many = Array.from({ length: 64 }, (_, index) => ({ id: String(index), word: "showing" }))
    expect(tileOf({ lastReport: { ...report, screens: many } })?.asked).toHaveLength(maxAsked)
  })
})

describe("the tile of a player", () => {
  it("counts its screens, and names those with a problem", () => {
    const screens = [
      { id: "one", label: "North", word: "hidden" },
      { id: "two", word: "closed" },
      { id: "three", word: "showing" }
    ]
    const problems = [problem("screen:hidden", "error", "Screen North is hidden", "one")]
    const tile = tileOf({
      word: "problem",
      problems,
      lastReport: { ...report, screens, problems }
    })
    expect(tile).toMatchObject({
      name: "Hall 3",
      word: "problem",
      tone: "error",
      versionId: active,
      screens: {
        count: 3,
        unwell: [
          { name: "North", word: "hidden", tone: "error" },
          { name: "two", word: "closed", tone: "neutral" }
        ]
      }
    })
  })

  it("has the first problem that the player reports, but not when it is silent", () => {
    const problems = [problem("disk:full", "error", "no space is left"), problem("b", "warning", "more")]
    const unwell = {
      problems,
      lastReport: { ...report, problems }
    }
    expect(tileOf({ word: "problem", ...unwell })).toMatchObject({ text: "no space is left" })
    expect(tileOf({ word: "silent", ...unwell })).not.toMatchObject({ text: expect.anything() })
  })

  it("reports that two machines have its id", () => {
    const text = "Player Hall 3 is two machines"
    expect(tileOf({ word: "problem", problems: [problem("player:duplicate", "error", text)] })).toMatchObject(
      {
        text
      }
    )
  })

  it("has the percentage of a copy, and the version that is shown meanwhile", () => {
    const copying = { ...report, versionId: older, copiedPercent: 42.6 }
    expect(tileOf({ word: "copying", lastReport: copying })).toMatchObject({
      tone: "held",
      percent: 43,
      versionId: older
    })
  })

  it("has no screens if the player was never seen", () => {
    const { lastReport: _, ...unseen } = player({ word: "never seen" })
    expect(playerTiles([unseen]).shown).toEqual([{ name: "Hall 3", word: "never seen", tone: "neutral" }])
  })
})

describe("many tiles", () => {
  it("are counted by state, and only the worst are shown", () => {
    const [silent, well] = [player({ word: "silent" }), player()]
    const { shown, words } = playerTiles([silent, ...Array.from({ length: 999 }, () => well)])
    expect(shown).toHaveLength(maxTiles)
    expect(shown[0]).toMatchObject({ word: "silent" })
    expect(words).toEqual({ silent: 1, "up to date": 999 })
  })

  it("name a limited number of screens of a player", () => {
    const screens = Array.from({ length: 300 }, (_, index) => ({ id: String(index), word: "closed" }))
    expect(tileOf({ lastReport: { ...report, screens } })?.screens).toMatchObject({ count: 300 })
    expect(tileOf({ lastReport: { ...report, screens } })?.screens?.unwell).toHaveLength(maxUnwell)
  })
})
