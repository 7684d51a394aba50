import { describe, expect, it } from "@effect/vitest"
import { nothingRemembered } from "../../../src/layers/status/problems.ts"
import type { GlobalState } from "../../../src/services/ControllerState.ts"
import type { Problem } from "../../../src/services/Problem.ts"
import { serverSlice, wellPlayer } from "../../support/fleet.ts"
import { makeViews } from "../../support/readState.ts"

const time = (text: string): number => Date.parse(`2026-11-23T${text}:00.000Z`)
const iso = (text: string): string => new Date(time(text)).toISOString()

const hours = { zone: "UTC", mon: "10:00-18:00" }
const system: GlobalState["system"] = {
  startTime: iso("09:00"),
  mode: "persistent",
  hours,
  screens: [{ id: "left" }]
}

/** A screen of the content that last reported at this time. */
const heard = (at: string, rest: object = {}) => ({
  kind: "content",
  versionId: "1",
  sources: {},
  screens: [
    {
      id: "left",
      versionId: "1",
      shownSince: iso("09:50"),
      heardAt: iso(at),
      renewMs: 20_000,
      until: iso("23:59"),
      ...rest
    }
  ]
})

/** The problems at each time, as `code subject`, with the reason if nobody watches them. */
const problemsAt = (
  looks: ReadonlyArray<readonly [time: string, plugins: Readonly<Record<string, unknown>>]>,
  of: GlobalState["system"] = system
) => {
  const look = makeViews(nothingRemembered)
  return looks.map(([at, plugins]) =>
    look({ system: of, plugins }, time(at)).view.problems.map(({ code, since, subject, unwatched }) =>
      [code, subject, since?.slice(11, 16), ...(unwatched === undefined ? [] : [unwatched])].join(" ")
    )
  )
}

describe("the problem of a dark screen", () => {
  it("is no longer watched when the place closes, and over when the screen reports again", () => {
    const dark = { content: heard("17:50") }
    const back = { content: heard("18:30") }
    expect(
      problemsAt([
        ["17:55", dark],
        ["18:20", dark],
        ["18:30", back],
        ["18:31", back]
      ])
    ).toEqual([["screen:silent left 17:50"], ["screen:silent left 17:50 closed"], [], []])
  })

  it("is there again in the morning, with its first time", () => {
    const dark = { content: heard("09:55") }
    const twice = { ...system, hours: { zone: "UTC", mon: ["10:00-12:00", "14:00-18:00"] } }
    expect(
      problemsAt(
        [
          ["11:00", dark],
          ["13:00", dark],
          ["14:00", dark],
          ["14:05", { content: heard("14:05") }]
        ],
        twice
      )
    ).toEqual([
      ["screen:silent left 09:55"],
      ["screen:silent left 09:55 closed"],
      ["screen:silent left 09:55"],
      []
    ])
  })

  it("does not end the problem that it has reported before", () => {
    const wrong = { problem: "no video", problemSince: iso("10:59") }
    expect(
      problemsAt([
        ["11:00", { content: heard("11:00", wrong) }],
        ["11:05", { content: heard("11:00", wrong) }],
        ["11:06", { content: heard("11:06", wrong) }],
        ["11:07", { content: heard("11:07") }]
      ])
    ).toEqual([
      ["screen:problem left 10:59"],
      ["screen:silent left 11:00", "screen:problem left 10:59 silent"],
      ["screen:problem left 10:59"],
      []
    ])
  })

  it("that it has shown nothing yet is over once it has reported, though it is silent", () => {
    const unseen = { content: { ...heard("11:00"), screens: [] } }
    expect(
      problemsAt([
        ["11:00", unseen],
        ["11:05", { content: heard("11:01") }]
      ])
    ).toEqual([["screen:never-seen left 09:00"], ["screen:silent left 11:01"]])
  })
})

describe("the problem of a player", () => {
  const reports = (at: string, problems: ReadonlyArray<Problem> = []) => ({
    "content-server": serverSlice({
      players: [wellPlayer("hall-3", iso(at), { sentAt: iso(at), startTime: iso("08:00"), problems })]
    })
  })
  const lamp: Problem = { code: "lamp", severity: "error", subject: "left", text: "The lamp is out." }

  it("is forgotten after ten minutes of silence if nobody expects the player, and there again", () => {
    expect(
      problemsAt([
        ["11:00", reports("11:00", [lamp])],
        ["11:05", reports("11:00", [lamp])],
        ["11:15", reports("11:00", [lamp])],
        ["11:20", reports("11:20", [lamp])],
        ["11:21", reports("11:21")]
      ])
    ).toEqual([
      ["lamp left 11:00"],
      ["lamp left 11:00", "player:silent hall-3 11:00"],
      ["player:silent hall-3 11:00 forgotten", "lamp left 11:00 forgotten"],
      ["lamp left 11:00"],
      []
    ])
  })
  it("is not over while its report has no room for all problems", () => {
    const cut = {
      "content-server": serverSlice({
        players: [
          wellPlayer("hall-3", iso("11:01"), {
            sentAt: iso("11:01"),
            startTime: iso("08:00"),
            moreProblems: 2
          })
        ]
      })
    }
    expect(
      problemsAt(
        [
          ["11:00", reports("11:00", [lamp])],
          ["11:01", cut],
          ["11:02", reports("11:02", [lamp])],
          ["11:03", reports("11:03")]
        ],
        { ...system, screens: [] }
      )
    ).toEqual([["lamp left 11:00"], ["lamp left 11:00 not in its report"], ["lamp left 11:00"], []])
  })

  it("waits until the player has judged it if the player was started again", () => {
    const started = (at: string, minutes: number) => ({
      "content-server": serverSlice({
        players: [
          wellPlayer("hall-3", iso(at), {
            sentAt: iso(at),
            startTime: new Date(time(at) - minutes * 60_000).toISOString()
          })
        ]
      })
    })
    expect(
      problemsAt(
        [
          ["11:00", reports("11:00", [lamp])],
          ["11:01", started("11:01", 0.5)],
          ["11:02", started("11:02", 1.5)]
        ],
        { ...system, screens: [] }
      )
    ).toEqual([["lamp left 11:00"], ["lamp left 11:00 not judged since the restart"], []])
  })

  it("that it was never seen is over once it has reported, though it is silent or stopped", () => {
    const of = { ...system, screens: [], players: [{ id: "hall-3" }] }
    const none = { "content-server": serverSlice({ players: [] }) }
    const stopped = wellPlayer("hall-3", iso("11:01"), { stoppedBy: "SIGTERM" })
    const codesAfter = (last: Readonly<Record<string, unknown>>) =>
      problemsAt(
        [
          ["11:00", none],
          ["11:05", last]
        ],
        of
      )
    expect(codesAfter(reports("11:01"))).toEqual([
      [expect.stringContaining("never-seen")],
      ["player:silent hall-3 11:01"]
    ])
    expect(codesAfter({ "content-server": serverSlice({ players: [stopped] }) }).at(-1)).toEqual([])
  })
})
