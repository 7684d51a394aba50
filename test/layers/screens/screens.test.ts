import { describe, expect, it } from "@effect/vitest"
import { screensOf } from "../../../src/layers/screens/screens.ts"
import type {
  ContentServerState,
  ContentState,
  Screen,
  TransportState
} from "../../../src/services/Slices.ts"
import type { ExpectedScreen, GlobalState } from "../../../src/services/StatusSnapshot.ts"
import { readState } from "../../support/readState.ts"

const start = Date.parse("2026-11-21T09:30:00.000Z")
const at = (seconds: number) => new Date(start + seconds * 1000).toISOString()
const versionId = "20261121T093000Z"
const older = "20261121T092900Z"

const left: Screen = { id: "left", versionId, shownSince: at(0), heardAt: at(0), until: at(1800) }
const page: Screen = { ...left, renewMs: 20_000, visible: true, drawing: true }
const expected = [{ id: "left", label: "Left wall" }]

const transport = {
  kind: "http-transport",
  path: "/",
  maxClients: 10,
  clients: 0,
  streams: [],
  mostClients: 0,
  eventsForwarded: 0,
  framesMissed: 0,
  clientsDropped: 0
}

interface Case {
  readonly screens?: ReadonlyArray<Screen>
  readonly expected?: ReadonlyArray<ExpectedScreen>
  readonly slice?: Partial<ContentState>
  readonly consumers?: TransportState["consumers"]
  /** When the controller was started, in seconds. */
  readonly from?: number
}

const stateOf = ({ consumers, expected, from = 0, screens = [], slice }: Case): GlobalState => ({
  system: {
    startTime: at(from),
    mode: "persistent",
    ...(expected === undefined ? {} : { node: { id: "hall" }, screens: expected })
  },
  plugins: {
    ...(consumers === undefined ? {} : { "http-transport": { ...transport, consumers } }),
    content: { kind: "content", versionId, activeSince: at(0), sources: {}, screens, ...slice }
  },
  _version: 1
})

const words = (given: Case, seconds: number) =>
  screensOf(stateOf(given), start + seconds * 1000).map(({ word }) => word)

const problemsAt = (given: Case, seconds: number) =>
  readState(stateOf(given), start + seconds * 1000).problems

const codes = (given: Case, seconds: number) => problemsAt(given, seconds).map(({ code }) => code)

describe("a screen is", () => {
  it("showing if its lease was renewed in time and nothing is wrong", () => {
    expect(words({ screens: [page] }, 39)).toEqual(["showing"])
    expect(codes({ screens: [page], expected }, 39)).toEqual([])
  })

  it("silent after 90 seconds if it reports whether it is visible or draws, but not how often it renews", () => {
    expect(words({ screens: [{ ...left, visible: true }] }, 89)).toEqual(["showing"])
    expect(words({ screens: [{ ...left, drawing: true }] }, 90)).toEqual(["silent"])
  })

  it("silent after two missed renewals if it reports how often it renews its lease, a page or not", () => {
    const hidden = { ...page, renewMs: 60_000, visible: false }
    expect(words({ screens: [hidden] }, 119)).toEqual(["hidden"])
    expect(words({ screens: [hidden] }, 120)).toEqual(["silent"])
    expect(words({ screens: [{ ...left, renewMs: 120_000 }] }, 239)).toEqual(["showing"])
    expect(words({ screens: [{ ...left, renewMs: 120_000 }] }, 240)).toEqual(["silent"])
    expect(problemsAt({ screens: [page], expected }, 40)).toEqual([
      {
        code: "screen:silent",
        severity: "error",
        subject: "left",
        text: `Screen Left wall last reported at ${at(0)}: check that it is on, and start its page or program again`,
        since: at(0)
      }
    ])
  })

  it("silent without a problem until a controller has been running again for that time", () => {
    const cases: ReadonlyArray<readonly [Screen, number]> = [
      [{ ...page, versionId: older, problem: "no film" }, 40],
      [{ ...left, renewMs: 120_000 }, 240],
      [left, 1800]
    ]
    for (const [screen, seconds] of cases) {
      const given = { screens: [screen], expected, from: 3600 }
      expect(words(given, 3600)).toEqual(["silent"])
      expect(codes(given, 3600 + seconds - 1)).toEqual([])
      expect(problemsAt(given, 3600 + seconds)).toMatchObject([{ code: "screen:silent", since: at(0) }])
    }
    const given = { screens: [page], expected, from: 3600 }
    const consumers = [{ id: "left", since: at(3601), endedAt: at(3610) }]
    expect(codes({ ...given, consumers }, 3625)).toEqual(["screen:silent"])
  })

  it("silent when its lease ends if it reports nothing else, and then listed only if it is expected", () => {
    expect(words({ screens: [left] }, 1799)).toEqual(["showing"])
    expect(words({ screens: [left] }, 1800)).toEqual([])
    expect(words({ screens: [left], expected }, 1800)).toEqual(["silent"])
  })

  it("a problem if two pages have its id, with both of them and what they cannot show", () => {
    const runs = [
      { since: at(0), heardAt: at(40), visible: true },
      { since: at(20), heardAt: at(50), visible: false }
    ]
    const given = { screens: [{ ...page, heardAt: at(50), runs }], expected }
    expect(words(given, 60)).toEqual(["problem"])
    expect(problemsAt(given, 60)).toEqual([
      {
        code: "screen:duplicate",
        severity: "error",
        subject: "left",
        text: `Screen Left wall has 2 pages or programs with its id: one since ${at(0)}; one since ${at(20)}, hidden. Close all except one, or give each its own id`
      }
    ])
    expect(problemsAt({ screens: given.screens }, 60)).toMatchObject([{ severity: "warning" }])
    const worse = { ...page, heardAt: at(50), runs, problem: "no film", problemSince: at(45) }
    expect(codes({ screens: [worse] }, 60)).toEqual(["screen:problem", "screen:duplicate"])
  })

  it("a problem if it was started again three times in ten minutes and is expected", () => {
    const screens = [{ ...page, restarts: 3 }]
    expect(problemsAt({ screens, expected }, 1)).toMatchObject([
      { code: "screen:restarting", severity: "error", subject: "left" }
    ])
    expect(codes({ screens }, 1)).toEqual([])
    expect(codes({ screens: [{ ...page, restarts: 2 }], expected }, 1)).toEqual([])
  })

  it("behind if it shows another version than the active one for longer than a minute", () => {
    const screens = [{ ...page, versionId: older, heardAt: at(60) }]
    expect(words({ screens }, 60)).toEqual(["showing"])
    expect(words({ screens }, 61)).toEqual(["behind"])
    expect(words({ screens, slice: { activeSince: at(5) } }, 65)).toEqual(["showing"])
    expect(problemsAt({ screens }, 61)).toEqual([
      {
        code: "screen:behind",
        severity: "warning",
        subject: "left",
        text: `Screen left has been behind since ${at(0)}: it still shows version ${older}. If this continues, load its page again`,
        since: at(0)
      }
    ])
  })

  it("hidden if it is not visible or does not draw, which is an error if it is expected", () => {
    for (const said of [{ visible: false }, { drawing: false }]) {
      expect(words({ screens: [{ ...page, ...said }] }, 1)).toEqual(["hidden"])
      expect(problemsAt({ screens: [{ ...page, ...said }] }, 1)).toMatchObject([
        { code: "screen:hidden", severity: "warning" }
      ])
      expect(problemsAt({ screens: [{ ...page, ...said }], expected }, 1)).toMatchObject([
        { severity: "error" }
      ])
    }
  })

  it("hidden for ten seconds before that is a problem, because a page may be loading", () => {
    const hidden = { screens: [{ ...page, visible: false, hiddenSince: at(5) }] }
    expect(words(hidden, 14)).toEqual(["hidden"])
    expect(problemsAt(hidden, 14)).toEqual([])
    expect(problemsAt(hidden, 15)).toMatchObject([{ code: "screen:hidden", since: at(5) }])
  })

  it("a problem at once if it was hidden or closed before somebody set the clock back", () => {
    const times = { until: at(125), closedAt: at(7200) }
    expect(codes({ screens: [{ ...page, ...times }], expected }, 20)).toEqual(["screen:closed"])
    const hidden = { ...page, visible: false, hiddenSince: at(7200) }
    expect(codes({ screens: [hidden], expected }, 20)).toEqual(["screen:hidden"])
  })

  it("a problem if it reports what it cannot show", () => {
    const screens = [{ ...page, visible: false, problem: "no film", problemSince: at(1) }]
    expect(words({ screens }, 2)).toEqual(["problem"])
    expect(problemsAt({ screens }, 2)).toEqual([
      {
        code: "screen:problem",
        severity: "warning",
        subject: "left",
        text: `Screen left has had a problem since ${at(1)}: no film`,
        since: at(1)
      }
    ])
  })

  it("closed at once, but a problem only after 15 seconds, and only if it is expected", () => {
    const screens = [{ ...page, until: at(125), closedAt: at(5) }]
    expect(words({ screens }, 5)).toEqual([])
    expect(words({ screens, expected }, 5)).toEqual(["closed"])
    expect(codes({ screens, expected }, 19)).toEqual([])
    expect(codes({ screens, expected }, 20)).toEqual(["screen:closed"])
    expect(codes({ screens, expected }, 100_000)).toEqual(["screen:closed"])
    expect(codes({ screens }, 20)).toEqual([])
  })

  it("never seen, with a problem 15 seconds after the start, if it is expected", () => {
    expect(words({ expected }, 0)).toEqual(["never seen"])
    expect(codes({ expected }, 14)).toEqual([])
    expect(problemsAt({ expected }, 15)).toMatchObject([
      { code: "screen:never-seen", severity: "error", subject: "left", since: at(0) }
    ])
    expect(words({}, 15)).toEqual([])
  })

  it("never seen, and its problem has the address to open", () => {
    const state = stateOf({ expected: [{ id: "left wall" }] })
    const textOf = (plugins: GlobalState["plugins"]) =>
      screensOf({ ...state, plugins: { ...state.plugins, ...plugins } }, start + 15_000)[0]?.problems[0]?.text
    expect(textOf({})).toContain("open its page with ?screen=left%20wall, or start its program")
    const page = "http://127.0.0.1:8730/"
    const counts = { maxConnections: 1, connections: 0, openResponses: 0, requests: 0, bytes: 0 }
    const server: ContentServerState = { kind: "content-server", url: page, page, ...counts }
    expect(textOf({ "content-server": server })).toContain(`open ${page}?screen=left%20wall, or`)
  })
})

describe("a screen with its own event stream is", () => {
  const open = [{ id: "left", since: at(0) }]
  const ended = [{ id: "left", since: at(0), endedAt: at(30) }]

  it("silent 15 seconds after the end of its stream, unless it came back or renewed its lease since", () => {
    for (const screen of [left, { ...page, renewMs: 60_000 }]) {
      expect(words({ screens: [screen], consumers: ended }, 44)).toEqual(["showing"])
      expect(words({ screens: [screen], consumers: ended }, 45)).toEqual(["silent"])
      expect(words({ screens: [screen], consumers: open }, 45)).toEqual(["showing"])
      expect(words({ screens: [{ ...screen, heardAt: at(31) }], consumers: ended }, 45)).toEqual(["showing"])
    }
    expect(problemsAt({ screens: [page], consumers: ended, expected }, 45)).toMatchObject([
      { code: "screen:silent", since: at(30) }
    ])
  })

  it("silent after two missed renewals despite its stream, if it reports whether it draws", () => {
    expect(words({ screens: [page], consumers: open }, 40)).toEqual(["silent"])
    expect(words({ screens: [left], consumers: open, expected }, 2000)).toEqual(["showing"])
  })

  it("never seen until it has reported what it shows, if it is expected", () => {
    expect(words({ consumers: open, expected }, 100)).toEqual(["never seen"])
    expect(codes({ consumers: open, expected }, 100)).toEqual(["screen:never-seen"])
    expect(words({ consumers: ended, expected }, 44)).toEqual(["never seen"])
    expect(codes({ consumers: ended, expected }, 45)).toEqual(["screen:silent"])
    expect(words({ consumers: open }, 100)).toEqual([])
  })
})

it("has its problem even if more than twenty others have one", () => {
  const expected = Array.from({ length: 22 }, (_, index) => ({ id: `screen-${index}` }))
  const { problems } = readState(stateOf({ expected }), start + 15_000)
  expect(problems.map(({ subject }) => subject)).toEqual(expected.map(({ id }) => id))
})

it("is not silent while it shows another content of the controller", () => {
  const state = stateOf({ screens: [page], expected })
  const other = {
    kind: "content",
    versionId,
    sources: {},
    screens: [{ ...page, heardAt: at(100), until: at(1900) }]
  }
  const screens = screensOf({ ...state, plugins: { ...state.plugins, other } }, start + 120_000)
  expect(screens.map(({ content, word }) => [content, word])).toEqual([["other", "showing"]])
})

it("is FAILING with every screen closed if screens are expected", () => {
  const closed = { ...page, closedAt: at(1) }
  const state = stateOf({ screens: [closed], expected: [...expected, { id: "right" }] })
  expect(readState(state, start + 60_000).word).toBe("FAILING")
  expect(readState(stateOf({ screens: [closed] }), start + 60_000).word).toBe("OK")
})
