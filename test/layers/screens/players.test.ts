import { describe, expect, it } from "@effect/vitest"
import * as FastCheck from "effect/FastCheck"
import { vitrineVersion } from "../../../src/internal/machine.ts"
import { printableLine } from "../../../src/internal/printable.ts"
import { playersOf } from "../../../src/layers/screens/players.ts"
import { detailOf, playersSection, summaryOf } from "../../../src/layers/screens/playerTexts.ts"
import { healthOf } from "../../../src/layers/status/view.ts"
import { maxLine, type Player } from "../../../src/services/PlayerReport.ts"
import type { ContentState } from "../../../src/services/Slices.ts"
import type { ExpectedPlayer, GlobalState } from "../../../src/services/StatusSnapshot.ts"
import type { PlayerStatus } from "../../../src/services/View.ts"
import { serverSlice, wellPlayer } from "../../support/fleet.ts"
import { readState } from "../../support/readState.ts"

const start = Date.parse("2026-11-21T09:30:00.000Z")
const at = (seconds: number) => new Date(start + seconds * 1000).toISOString()
const versionId = "20261121T093000Z"
const older = "20261121T092900Z"

const hall3 = wellPlayer("hall-3", at(0), {
  node: { id: "hall-3", label: "Hall 3" },
  host: "box-3",
  versionId,
  activeSince: at(0)
})
const expected = [{ id: "hall-3", label: "The third hall" }]

const warning = { code: "content:held", severity: "warning", text: "it is held" } as const
const error = {
  code: "screen:closed",
  severity: "error",
  text: "Screen Left was closed",
  since: at(5)
} as const

interface Case {
  readonly players?: ReadonlyArray<Player>
  readonly expected?: ReadonlyArray<ExpectedPlayer>
  readonly content?: Partial<ContentState>
  /** When the hub was started, in seconds. */
  readonly from?: number
}

const stateOf = ({ content, expected, from = 0, players }: Case): GlobalState => ({
  system: {
    startTime: at(from),
    mode: "persistent",
    node: { id: "hub" },
    ...(expected === undefined ? {} : { players: expected })
  },
  plugins: {
    content: { kind: "content", versionId, activeSince: at(0), sources: {}, ...content },
    "content-server": serverSlice({ ...(players === undefined ? {} : { players }) })
  },
  _version: 1
})

/** The rows of the status about players. */
const rowsOf = (players: ReadonlyArray<PlayerStatus>) => playersSection(players).rows

const playersAt = (given: Case, seconds: number) => playersOf(stateOf(given), start + seconds * 1000)

/** The state of the only player, and the code of its problem. */
const wordAt = (given: Case, seconds: number) => {
  const [player] = playersAt(given, seconds)
  return [player?.word, player?.problems[0]?.code]
}

describe("a player is", () => {
  it("up to date if it has the active version of the hub and reports no problem", () => {
    expect(playersAt({ players: [hall3], expected }, 24)).toEqual([
      {
        id: "hall-3",
        name: "The third hall",
        isExpected: true,
        word: "up to date",
        problems: [],
        since: at(0),
        lastReport: hall3
      }
    ])
    expect(playersAt({ players: [hall3] }, 24)).toMatchObject([{ name: "Hall 3", isExpected: false }])
  })

  it("silent 25 seconds after its last report, which is an error if it is expected", () => {
    expect(wordAt({ players: [hall3] }, 24)).toEqual(["up to date", undefined])
    expect(playersAt({ players: [hall3], expected }, 25)).toMatchObject([
      {
        word: "silent",
        since: at(0),
        problems: [
          {
            code: "player:silent",
            severity: "error",
            subject: "hall-3",
            text: `Player The third hall last reported at ${at(0)}: check that it is on and reaches this machine, and see its own status`,
            since: at(0)
          }
        ]
      }
    ])
  })

  it("closed for the day, without a problem, if it is off outside its hours", () => {
    const hours = { zone: "UTC", sat: "10:00-18:00" }
    const off = { players: [hall3], expected: [{ id: "hall-3", hours }] }
    const unseen = { players: [], expected: [{ id: "hall-3", hours }] }
    // From 09:50, which is twenty minutes later.
    expect(wordAt(off, 1199)).toEqual(["closed for the day", undefined])
    expect(wordAt(off, 1200)).toEqual(["silent", "player:silent"])
    expect(wordAt(unseen, 1199)).toEqual(["closed for the day", undefined])
    expect(wordAt(unseen, 1200)).toEqual(["never seen", "player:never-seen"])
    expect(summaryOf(playersAt(off, 600))).toBe("1 player closed for the day")
  })

  it("stopped, without a problem for a day, if it has reported who stopped it", () => {
    const off = { players: [{ ...hall3, stoppedBy: "anna@desk", heardAt: at(10) }], expected }
    expect(wordAt(off, 10)).toEqual(["stopped", undefined])
    expect(wordAt(off, 10 + 86_399)).toEqual(["stopped", undefined])
    expect(wordAt(off, 10 + 86_400)).toEqual(["silent", "player:silent"])
    expect(playersAt(off, 10 + 86_400)[0]?.problems[0]?.text).toContain(
      `was stopped by anna@desk at ${at(10)}`
    )
    expect(rowsOf(playersAt(off, 60))[1]).toMatchObject({
      label: "The third hall",
      value: `stopped by anna@desk at ${at(10)}`,
      tone: "neutral"
    })
    expect(summaryOf(playersAt(off, 60))).toBe("0 of 1 player is up to date; 1 stopped")
  })

  it("stopped only until its opening hours begin", () => {
    // Open from 08:50 to 18:10.
    const hours = { zone: "UTC", sat: "09:00-18:00", sun: "09:00-18:00" }
    const closes = (18 * 60 + 10 - 9.5 * 60) * 60
    const opens = closes + 14 * 3600 + 40 * 60
    for (const seconds of [0, closes - 1]) {
      const players = [{ ...hall3, stoppedBy: "the system", heardAt: at(seconds) }]
      const off = { players, expected: [{ id: "hall-3", hours }] }
      expect(wordAt(off, closes - 1)).toEqual(["stopped", undefined])
      expect(wordAt(off, closes)).toEqual(["closed for the day", undefined])
      expect(wordAt(off, opens - 1)).toEqual(["closed for the day", undefined])
      expect(wordAt(off, opens)).toEqual(["silent", "player:silent"])
    }
  })

  it("up to date outside its hours if only its screens are off", () => {
    const screens = [{ id: "left", word: "closed" }]
    const lastReport = { ...hall3, problems: [error], screens }
    const hours = { zone: "UTC", sat: "10:00-18:00" }
    const [player] = playersAt({ players: [lastReport], expected: [{ id: "hall-3", hours }] }, 10)
    expect(player).toMatchObject({
      word: "up to date",
      problems: [],
      lastReport: { screens: [{ word: "closed for the day" }] }
    })
    const later = { ...lastReport, heardAt: at(1200) }
    expect(wordAt({ players: [later], expected: [{ id: "hall-3", hours }] }, 1200)).toEqual([
      "problem",
      "screen:closed"
    ])
  })

  it("silent with a warning for ten minutes if it is not expected, and stays in the list", () => {
    expect(playersAt({ players: [hall3] }, 599)).toMatchObject([{ problems: [{ severity: "warning" }] }])
    expect(wordAt({ players: [hall3] }, 600)).toEqual(["silent", undefined])
    expect(wordAt({ players: [hall3], expected }, 600)).toEqual(["silent", "player:silent"])
  })

  it("silent with the problems of its last report", () => {
    const given = { players: [{ ...hall3, problems: [error] }], expected }
    const [before] = playersAt(given, 24)
    const [after] = playersAt(given, 25)
    expect(after?.problems.map(({ code }) => code)).toEqual(["player:silent", "screen:closed"])
    expect(after?.problems[1]).toEqual(before?.problems[0])
    expect(playersAt({ ...given, expected: [] }, 600)[0]?.problems).toEqual([])
  })

  it("missed only when the hub, whose disk may be slow, has listened for that long", () => {
    const codesAt = (given: Case, seconds: number, listens?: number) =>
      playersOf(stateOf(given), start + seconds * 1000, () => listens && start + listens * 1000).flatMap(
        ({ problems }) => problems.map(({ code }) => code)
      )
    const silent = { players: [hall3], expected }
    expect(codesAt(silent, 324, 300)).toEqual([])
    expect(codesAt(silent, 325, 300)).toEqual(["player:silent"])
    expect(codesAt({ players: [], expected }, 359, 300)).toEqual([])
    expect(codesAt({ players: [], expected }, 360, 300)).toEqual(["player:never-seen"])
    expect([codesAt(silent, 360), codesAt({ players: [], expected }, 360)]).toEqual([[], []])
  })

  it("silent without any problem until a hub that was off has listened for 25 seconds", () => {
    const players = [{ ...hall3, versionId: older, problems: [error] }]
    const other = { host: "box-4", address: "10.0.0.4", heardAt: at(299) }
    for (const given of [{ players }, { players: [{ ...hall3, duplicate: other }] }]) {
      const restarted = { ...given, expected, from: 300 }
      expect(wordAt(restarted, 300)).toEqual(["silent", undefined])
      expect(wordAt(restarted, 324)).toEqual(["silent", undefined])
      expect(wordAt(restarted, 325)).toEqual(["silent", "player:silent"])
    }
    const heardBefore = { players: [{ ...hall3, heardAt: at(290) }], expected, from: 300 }
    expect(wordAt(heardBefore, 314)).toEqual(["up to date", undefined])
    expect(wordAt(heardBefore, 315)).toEqual(["silent", undefined])
    expect(wordAt(heardBefore, 325)).toEqual(["silent", "player:silent"])
  })

  it("never seen if it is expected and has not reported, a problem one minute after the start", () => {
    expect(wordAt({ players: [], expected }, 59)).toEqual(["never seen", undefined])
    expect(playersAt({ players: [], expected }, 60)).toEqual([
      {
        id: "hall-3",
        name: "The third hall",
        isExpected: true,
        word: "never seen",
        since: at(0),
        problems: [
          {
            code: "player:never-seen",
            severity: "error",
            subject: "hall-3",
            text: 'Player The third hall was never seen: configure the replica whose node has the id "hall-3" to report to this machine',
            since: at(0)
          }
        ]
      }
    ])
    expect(playersAt({}, 60)).toEqual([])
  })

  it("never seen with another problem if this machine accepts no reports", () => {
    expect(playersAt({ expected }, 60)).toMatchObject([
      {
        word: "never seen",
        problems: [
          {
            code: "player:never-seen",
            text: "Player The third hall was never seen: this machine accepts no reports. Configure contentServer({ reports: { token } })"
          }
        ]
      }
    ])
  })

  it("not missed while the content server of the hub still starts", () => {
    const { plugins, ...state } = stateOf({ expected })
    const codesAt = (plugins: GlobalState["plugins"], seconds: number) =>
      playersOf({ ...state, plugins }, start + seconds * 1000, () => start + 300_000).flatMap(
        ({ problems }) => problems.map(({ code }) => code)
      )
    expect(codesAt({ content: plugins["content"] }, 299)).toEqual([])
    expect(codesAt(plugins, 359)).toEqual([])
    expect(codesAt(plugins, 360)).toEqual(["player:never-seen"])
  })

  it("missed eleven minutes after the start if this machine has no content server at all", () => {
    const { plugins, ...state } = stateOf({ expected })
    const codesAt = (seconds: number) =>
      playersOf({ ...state, plugins: {} }, start + seconds * 1000).flatMap(({ problems }) =>
        problems.map(({ code }) => code)
      )
    expect(codesAt(659)).toEqual([])
    expect(codesAt(660)).toEqual(["player:never-seen"])
  })

  it("behind if it has another version for longer than a minute and copies nothing", () => {
    const players = [{ ...hall3, versionId: older, heardAt: at(60) }]
    expect(wordAt({ players }, 59)).toEqual(["behind", undefined])
    expect(playersAt({ players }, 60)).toMatchObject([
      {
        word: "behind",
        since: at(0),
        problems: [
          {
            code: "player:behind",
            severity: "warning",
            text: `Player Hall 3 has been behind since ${at(0)}: it has version ${older}. See the reason in its own status`
          }
        ]
      }
    ])
    expect(wordAt({ players, content: { activeSince: at(5) } }, 64)).toEqual(["behind", undefined])
    expect(wordAt({ players, content: { activeSince: at(7200) } }, 64)).toEqual(["behind", "player:behind"])
    const copying = players.map((player) => ({ ...player, copiedPercent: 40 }))
    expect(wordAt({ players: copying }, 61)).toEqual(["copying", undefined])
  })

  it("held if its version is held, and a problem if it cannot fetch, even without errors", () => {
    const held = { ...hall3, problems: [warning] }
    expect(wordAt({ players: [held] }, 1)).toEqual(["held", "content:held"])
    const failing = { code: "content:failing", severity: "warning", text: "the disk is full" } as const
    expect(wordAt({ players: [{ ...held, problems: [warning, failing] }] }, 1)[0]).toBe("problem")
  })

  it("a problem if it was started again three times in ten minutes", () => {
    expect(playersAt({ players: [{ ...hall3, restarts: 3 }], expected }, 1)).toMatchObject([
      { word: "problem", problems: [{ code: "player:restarting", severity: "error", subject: "hall-3" }] }
    ])
    expect(wordAt({ players: [{ ...hall3, restarts: 2 }] }, 1)).toEqual(["up to date", undefined])
  })

  it("in the list with a warning if its clock is more than a minute off", () => {
    const text = "Player Hall 3 has a clock that is 3 h behind: let it use a time server"
    expect(playersAt({ players: [{ ...hall3, clockOffset: -3 * 3_600_000 }] }, 1)).toMatchObject([
      { word: "up to date", problems: [{ code: "player:clock", severity: "warning", text }] }
    ])
    expect(wordAt({ players: [{ ...hall3, clockOffset: 60_000 }] }, 1)).toEqual(["up to date", undefined])
    const [found] = playersAt({ players: [{ ...hall3, clockOffset: 61_000 }] }, 1)
    expect(found?.problems[0]).not.toMatchObject({ since: expect.anything() })
  })

  it("a problem since the same time, even if the delay of reports varies", () => {
    const since = (clockOffset: number) =>
      playersAt({ players: [{ ...hall3, heardAt: at(20), clockOffset, problems: [error] }] }, 20)[0]?.since
    expect([-3, -40, 12].map(since)).toEqual([at(5), at(5), at(5)])
  })

  it("behind without a version too, and never if the hub has none", () => {
    const { versionId: _, ...player } = hall3
    const players = [{ ...player, heardAt: at(60), problems: [{ ...warning, code: "source:warning" }] }]
    expect(playersAt({ players }, 61)).toMatchObject([
      {
        word: "behind",
        problems: [
          {
            text: `Player Hall 3 has been behind since ${at(0)}: it has no version. See the reason in its own status`
          },
          { code: "source:warning" }
        ]
      }
    ])
    const state = stateOf({ players })
    const { content: _content, ...plugins } = state.plugins
    expect(playersOf({ ...state, plugins }, start + 61_000)).toMatchObject([{ word: "up to date" }])
  })

  it("compared with the content of its content server", () => {
    const { plugins, system } = stateOf({ players: [{ ...hall3, versionId: older, heardAt: at(60) }] })
    const named = { ...plugins, films: { ...Object(plugins.content), versionId: older } }
    const server = { "films-server": plugins["content-server"] }
    const state = { system, plugins: { content: plugins.content, films: named.films, ...server } }
    expect(playersOf(state, start + 61_000)).toMatchObject([{ word: "up to date" }])
  })

  it("a problem if it reports an error, with its text and the clock of the hub", () => {
    const players = [{ ...hall3, clockOffset: -2000, heardAt: at(20), problems: [warning, error] }]
    expect(playersAt({ players }, 20)).toMatchObject([
      {
        word: "problem",
        since: at(7),
        problems: [
          {
            code: "screen:closed",
            severity: "error",
            player: "hall-3",
            text: "Player Hall 3: Screen Left was closed",
            since: at(7)
          },
          { code: "content:held", severity: "warning", text: "Player Hall 3: it is held" }
        ]
      }
    ])
  })

  it("listed with each problem of its own, by player, code and screen", () => {
    const problems = ["left", "right"].map((subject) => ({ ...error, subject }))
    const found = readState(stateOf({ players: [{ ...hall3, problems: [...problems, warning] }] }), start)
    expect(found.problems.map(({ code, player, subject }) => [player, code, subject])).toEqual([
      ["hall-3", "screen:closed", "left"],
      ["hall-3", "screen:closed", "right"],
      ["hall-3", "content:held", undefined]
    ])
    expect(healthOf(found.problems)).toBe("FAILING")
    expect(healthOf([{ ...warning, player: "hall-3" }])).toBe("WARNING")
    const ofHub = { ...hall3, problems: [{ ...error, player: "wing-1" }] }
    expect(playersAt({ players: [ofHub] }, 1)[0]?.problems).toMatchObject([{ player: "hall-3/wing-1" }])
  })

  it("in the same state if it reports a warning, which is shown", () => {
    const old = { ...warning, code: "source:warning" }
    expect(playersAt({ players: [{ ...hall3, problems: [old] }] }, 1)).toMatchObject([
      {
        word: "up to date",
        problems: [{ code: "source:warning", severity: "warning", text: "Player Hall 3: it is held" }]
      }
    ])
  })

  it("a problem if two machines report with one id, with the same text whichever was last", () => {
    const other = { host: "box-4", address: "10.0.0.4", heardAt: at(0) }
    const swapped = { ...hall3, ...other, duplicate: { host: "box-3", address: "10.0.0.3", heardAt: at(0) } }
    for (const player of [{ ...hall3, duplicate: other }, swapped]) {
      expect(playersAt({ players: [player], expected }, 1)).toMatchObject([
        {
          word: "problem",
          problems: [
            {
              code: "player:duplicate",
              severity: "error",
              text: "Player The third hall has two machines with its id: box-3 (10.0.0.3) and box-4 (10.0.0.4). Give each machine its own node id"
            }
          ]
        }
      ])
    }
  })
})

describe("the players", () => {
  const player = (id: string, also: Partial<Player> = {}) => ({ ...hall3, node: { id }, ...also })

  it("are listed with the worst first, and summed up in words", () => {
    const players = [
      player("f"),
      player("e", { problems: [warning] }),
      player("d", { versionId: older }),
      player("c", { problems: [error] }),
      player("b", { copiedPercent: 5 }),
      player("a")
    ].map((player) => ({ ...player, heardAt: at(99) }))
    const silent = [player("g"), player("h")]
    const found = playersAt({ players: [...players, ...silent], expected: [{ id: "h" }, { id: "i" }] }, 100)
    expect(found.map(({ id }) => id)).toEqual(["h", "i", "c", "g", "d", "e", "b", "a", "f"])
    expect(summaryOf(found)).toBe(
      "2 of 9 players are up to date; 2 silent, 1 never seen, 1 with a problem, 1 behind, 1 held, 1 copying"
    )
    expect(summaryOf([])).toBe("no player has reported yet")
    expect(summaryOf(playersAt({ players: [hall3] }, 1))).toBe("1 of 1 player is up to date")
  })

  it("have a row if they are not up to date or have a problem", () => {
    const players = [
      player("a"),
      player("b", { copiedPercent: 40 }),
      player("c", { heardAt: at(-30) }),
      player("d", { problems: [error] })
    ]
    expect(rowsOf(playersAt({ players, from: -60 }, 1))).toEqual([
      {
        type: "kv",
        label: "All",
        value: "1 of 4 players are up to date; 1 silent, 1 with a problem, 1 copying"
      },
      { type: "kv", label: "d", value: `problem since ${at(0)}: Screen Left was closed`, tone: "error" },
      { type: "kv", label: "c", value: `silent, last report at ${at(-30)}`, tone: "warn" },
      { type: "kv", label: "b", value: "copying 40 %", tone: "neutral" }
    ])
  })

  it("are shown with their version of Vitrine if it differs from that of the hub", () => {
    const players = [player("a"), player("b", { vitrine: "0.0.1" }), player("c", { vitrine: "0.0.1" })]
    const found = playersAt({ players }, 1)
    expect(found.map(detailOf)).toEqual(["", "Vitrine 0.0.1", "Vitrine 0.0.1"])
    expect(rowsOf(found).slice(1)).toEqual([
      {
        type: "text",
        text: `2 players run another version of Vitrine than this hub, ${vitrineVersion}`,
        tone: "neutral"
      }
    ])
  })

  it("count once for the health, and have a section where reports are accepted", () => {
    const read = (given: Case) => readState(stateOf(given), start + 25_000)
    const ofPlayers = (given: Case) => read(given).sections.filter(({ name }) => name === "players")
    expect(ofPlayers({})).toEqual([])
    expect(ofPlayers({ expected })).toEqual([])
    expect(ofPlayers({ players: [] })).toMatchObject([
      { title: "Players", rows: [{ value: "no player has reported yet" }] }
    ])
    expect(read({ players: [hall3], expected }).problems).toMatchObject([{ code: "player:silent" }])
  })

  it("have a problem each, however many there are, and twenty rows of the status", () => {
    const players = Array.from({ length: 22 }, (_, index) => player(`player-${index}`))
    const { problems } = readState(stateOf({ players }), start + 25_000)
    expect(problems.map(({ subject }) => subject)).toEqual(
      expect.arrayContaining(players.map(({ node }) => node.id))
    )
    expect(problems).toHaveLength(22)
    const rows = rowsOf(playersAt({ players }, 25))
    expect(rows.slice(21)).toEqual([{ type: "text", text: "and 2 more", tone: "neutral" }])
  })
})

const text = FastCheck.string({ unit: "binary", maxLength: 500 })
const line = FastCheck.oneof(
  FastCheck.constantFrom("hall-3", "__proto__"),
  text.map((text) => printableLine(text, maxLine).replaceAll(/[/…]/g, "").trim() || "a")
)
const time = FastCheck.integer({ min: -3600, max: 3600 }).map(at)
const amount = FastCheck.maxSafeNat()
const severity: FastCheck.Arbitrary<"error" | "warning"> = FastCheck.constantFrom("error", "warning")
const anyPlayer: FastCheck.Arbitrary<Player> = FastCheck.record(
  {
    vitrine: line,
    sentAt: time,
    node: FastCheck.record({ id: line, label: line }, { requiredKeys: ["id"] }),
    host: text,
    runId: line,
    startTime: time,
    versionId: FastCheck.oneof(line, FastCheck.constant(versionId)),
    activeSince: time,
    copiedPercent: FastCheck.integer({ min: 0, max: 100 }),
    freeDisk: amount,
    problems: FastCheck.array(
      FastCheck.record(
        {
          code: line,
          severity: severity,
          subject: text,
          text,
          since: time
        },
        { requiredKeys: ["code", "severity", "text"] }
      ),
      { maxLength: 3 }
    ),
    screens: FastCheck.array(FastCheck.record({ id: line, word: text }), { maxLength: 3 }),
    warnings: FastCheck.array(text, { maxLength: 3 }),
    heardAt: time,
    address: line,
    clockOffset: FastCheck.maxSafeInteger(),
    duplicate: FastCheck.record({ host: text, address: text, heardAt: time })
  },
  {
    requiredKeys: [
      "vitrine",
      "sentAt",
      "node",
      "host",
      "runId",
      "startTime",
      "problems",
      "screens",
      "warnings",
      "heardAt",
      "address",
      "clockOffset"
    ]
  }
)
const anyPlayers = FastCheck.array(anyPlayer, { maxLength: 60, size: "max" })

describe("whatever players report,", () => {
  it.prop(
    "each is listed once, the errors first, and those without a problem last",
    { players: anyPlayers },
    ({ players }) => {
      const found = playersAt({ players, expected }, 60)
      const ids = found.map(({ id }) => id)
      expect([...ids].sort()).toEqual([...new Set(["hall-3", ...players.map(({ node }) => node.id)])].sort())
      const severities = found.map(({ problems: [worst] }) => worst?.severity ?? "none")
      expect(severities).toEqual(
        ["error", "warning", "none"].flatMap((one) => severities.filter((severity) => severity === one))
      )
    },
    { fastCheck: { numRuns: 50 } }
  )

  it.prop(
    "each that is behind, has a problem, or is expected and silent, has a problem in the list",
    { players: anyPlayers },
    ({ players }) => {
      for (const { isExpected, problems, lastReport, word } of playersAt({ players, expected }, 3700)) {
        const isAway = word === "silent" || word === "never seen"
        const isWrong = isAway ? isExpected : word === "behind" || (lastReport?.problems.length ?? 0) > 0
        expect(problems.length > 0 || !isWrong).toBe(true)
        expect(word === "up to date" && lastReport?.problems.length === 0 && problems.length > 0).toBe(false)
        expect(problems.every(({ text }) => text.length < 3000)).toBe(true)
      }
    },
    { fastCheck: { numRuns: 50 } }
  )

  it.prop(
    "texts about them are short, and each problem names its player",
    { players: anyPlayers },
    ({ players }) => {
      const found = playersAt({ players, expected }, 60)
      for (const { id, problems } of found) {
        expect(problems.every(({ player, subject }) => player === id || subject === id)).toBe(true)
      }
      expect(rowsOf(found).length).toBeLessThanOrEqual(23)
    },
    { fastCheck: { numRuns: 50 } }
  )
})
