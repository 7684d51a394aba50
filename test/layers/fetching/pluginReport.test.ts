import { describe, expect, it } from "@effect/vitest"
import { vitrineVersion } from "../../../src/internal/machine.ts"
import { pluginReport } from "../../../src/layers/fetching/pluginReport.ts"
import { screensOf } from "../../../src/layers/screens/screens.ts"
import type { Row } from "../../../src/services/ControllerState.ts"
import type { ContentState, Reports, Screen } from "../../../src/services/Slices.ts"
import type { OpeningHours } from "../../../src/services/StatusSnapshot.ts"

const versionId = "20261121T093000Z"
const older = "20261121T092900Z"
const heardAt = "2026-11-21T09:30:00.000Z"
const until = "2026-11-21T10:00:00.000Z"

const screen = (id: string, said: Partial<Screen> = {}): Screen => ({
  id,
  versionId,
  shownSince: heardAt,
  heardAt,
  until,
  ...said
})

const lease = {
  consumerId: "screen",
  until: Date.parse(until),
  heardAt: Date.parse(heardAt),
  isSilent: false
}

/** Reads the slice of a content at this time, in milliseconds since 1970. */
const read = (slice: ContentState, now: number, hours?: OpeningHours) => {
  const system = {
    startTime: heardAt,
    mode: "persistent",
    ...(hours === undefined ? {} : { hours })
  } as const
  const state = { system, plugins: { content: slice }, _version: 1 }
  const context = { now, state, screens: screensOf(state, now), players: [] }
  return pluginReport("content", { failingFor: "15 minutes" })(slice, context)
}

const sectionRows = (slice: ContentState, now = Date.parse(heardAt)): ReadonlyArray<Row> =>
  (read(slice, now).sections ?? []).flatMap(({ rows }) => rows)

const rowsOf = (...screens: ReadonlyArray<Screen>) => {
  const slice = {
    kind: "content",
    versionId,
    activeSince: heardAt,
    sources: {},
    screens,
    versions: [older, versionId].map((id) => ({
      versionId: id,
      active: id === versionId,
      isWaiting: false,
      leases: screens.filter((screen) => screen.versionId === id).map(() => ({ ...lease, versionId: id })),
      isRead: false
    }))
  } as const
  return sectionRows(slice, Date.parse("2026-11-21T09:31:30Z"))
}

const itemsOf = (label: string, rows: ReadonlyArray<Row>) =>
  rows.flatMap((row) => (row.type === "list" && row.label === label ? row.items : []))

const count = (length: number, said: Partial<Screen> = {}) =>
  Array.from({ length }, (_, index) => screen(`screen-${index}`, said))

it("the active version is the one that became active after the versions on disk were last read", () => {
  const slice = { kind: "content", versionId, activeSince: heardAt, sources: {} } as const
  const version = { versionId: older, active: true, isWaiting: false, leases: [], isRead: false }
  const readAt = Date.parse(heardAt) - 1
  for (const versions of [[], [version]]) {
    const rows = sectionRows({ ...slice, versions }, readAt)
    expect(rows).toContainEqual({ type: "kv", label: "Active version", value: versionId })
    expect(itemsOf("Versions on disk", rows)).toEqual(
      versions.map(() => ({ type: "kv", label: older, value: "on no screen" }))
    )
  }
  expect(sectionRows({ ...slice, versions: [] }, readAt + 1)).toContainEqual({
    type: "kv",
    label: "Active version",
    value: "none"
  })
})

describe("the screens in the status", () => {
  it("are listed with their state, their version and the time of their last ack, the worst first", () => {
    const kv = (label: string, value: string, tone: string) => ({ type: "kv", label, value, tone })
    expect(
      itemsOf(
        "Screens",
        rowsOf(
          screen("left"),
          screen("guest", { visible: true }),
          screen("right", { versionId: older }),
          screen("door", { problem: "no film", problemSince: heardAt }),
          screen("desk", { closedAt: heardAt })
        )
      )
    ).toEqual([
      kv("right", `behind, on version ${older}, last report at ${heardAt}`, "warn"),
      kv("door", `problem: no film, on the active version, last report at ${heardAt}`, "warn"),
      kv("left", `showing the active version, last report at ${heardAt}`, "ok"),
      kv("guest", `silent, last report at ${heardAt}`, "neutral")
    ])
    expect(itemsOf("Screens", rowsOf())).toEqual([])
  })

  it("are at most twenty, and the others are counted", () => {
    expect(itemsOf("Screens", rowsOf(...count(20)))).toHaveLength(20)
    expect(itemsOf("Screens", rowsOf(...count(256))).slice(20)).toEqual([
      { type: "text", text: "and 236 more", tone: "neutral" }
    ])
  })

  it("are counted for each version, with the end of the lease that keeps it", () => {
    const silent = { visible: true }
    expect(
      itemsOf(
        "Versions on disk",
        rowsOf(screen("left", { ...silent, versionId: older }), ...count(2), screen("right", silent))
      )
    ).toEqual([
      { type: "kv", label: older, value: `on no screen, kept until ${until}` },
      { type: "kv", label: versionId, value: "active, on 2 screens" }
    ])
  })

  it("have the sentences of their problems at the top of the status only", () => {
    const problem = { problem: "no film", problemSince: heardAt }
    const rows = JSON.stringify(rowsOf(screen("left"), screen("right", problem)))
    expect(rows).not.toContain("has had a problem")
    expect(rows).toContain("problem: no film, on ")
  })
})

describe("a source that waits", () => {
  const until = "2026-11-21T09:31:00.000Z"
  const textOf = (reason: "pacing" | "penalty" | "retry") => {
    const progress = {
      document: "Objects",
      documents: { done: 0, total: 2 },
      records: 100,
      waiting: { reason, until }
    }
    return read({ kind: "content", versionId, sources: { museum: { progress } } }, 0).problems?.map(
      ({ subject, text }) => [subject, text]
    )
  }

  it("shows what it waits for and until when, unless it is only paced", () => {
    expect(textOf("pacing")).toEqual([])
    expect(textOf("penalty")).toEqual([
      [
        "museum",
        `Source "museum": it waits until ${until} to read Objects: the API refuses requests for a while`
      ]
    ])
    expect(textOf("retry")).toEqual([
      ["museum", `Source "museum": it waits until ${until} to read Objects again: a request has failed`]
    ])
  })
})

describe("an unreachable hub", () => {
  const since = "2026-11-21T09:00:00.000Z"
  const away = { url: "http://hub:8730/", askedAt: since, problem: "no network" }
  const works = { url: "http://hub:8730/", askedAt: since, versionId }
  const to = "http://hub:8730/"
  const codes = (slice: Partial<ContentState>, hours?: OpeningHours) =>
    read(
      {
        kind: "content",
        versionId,
        sources: {},
        reports: { to, problem: { since, reason: "no network" } },
        ...slice
      },
      Date.parse(since) + 60_000,
      hours
    ).problems?.map(({ code }) => code)
  const lastFetch = { timestamp: since, error: { name: "CopyFailed", message: "Cannot copy" } }

  it("is one problem of a player, for its fetches and its reports together", () => {
    expect(codes({ copiedFrom: away, lastFetch, failingSince: since })).toEqual(["content:failing"])
    expect(codes({ copiedFrom: away })).toEqual(["content:upstream"])
  })

  it("does not hide other problems: a full disk, rejected reports", () => {
    expect(codes({ copiedFrom: works, lastFetch, failingSince: since })).toEqual([
      "content:failing",
      "hub:silent"
    ])
    expect(codes({ copiedFrom: works })).toEqual(["hub:silent"])
  })

  it("is not a problem outside the player's opening hours, when all others still are", () => {
    const [open, closed] = ["sat", "sun"].map((day) => ({ zone: "UTC", [day]: "08:00-10:00" }))
    const failing = { lastFetch, failingSince: since }
    const cases: ReadonlyArray<readonly [Partial<ContentState>, string]> = [
      [{ copiedFrom: away, ...failing }, "content:failing"],
      [{ copiedFrom: away }, "content:upstream"],
      [{ copiedFrom: works }, "hub:silent"]
    ]
    for (const [slice, code] of cases) {
      expect(codes(slice, open)).toEqual([code])
      expect(codes(slice, closed)).toEqual([])
    }
    expect(codes({ copiedFrom: works, ...failing }, closed)).toEqual(["content:failing"])
  })
})

describe("the reports to a hub", () => {
  const to = "http://hub:8730/"
  const takenAt = "2026-11-21T09:00:00.000Z"
  const slice = (reports: Reports): ContentState => ({ kind: "content", versionId, sources: {}, reports })
  const rowsOfReports = (reports: Reports) =>
    sectionRows(slice(reports)).filter(
      (row) => row.type === "text" || (row.type === "kv" && row.label.startsWith("Reports"))
    )
  const row = (value: string, tone: string) => ({ type: "kv", label: `Reports to ${to}`, value, tone })

  it("are in the status, with the time when the hub last accepted one", () => {
    expect(rowsOfReports({ to })).toEqual([row("none accepted yet", "neutral")])
    expect(rowsOfReports({ to, takenAt, vitrine: vitrineVersion })).toEqual([
      row(`accepted at ${takenAt}`, "ok")
    ])
  })

  it("show the version of Vitrine on the hub if it differs", () => {
    expect(rowsOfReports({ to, takenAt, vitrine: "0.0.1" })).toEqual([
      row(`accepted at ${takenAt}`, "ok"),
      { type: "text", text: `The hub runs Vitrine 0.0.1, this is ${vitrineVersion}`, tone: "neutral" }
    ])
    expect(read(slice({ to, takenAt, vitrine: "0.0.1" }), 0).problems).toEqual([])
  })

  it("are a problem if the hub has not accepted any for half a minute", () => {
    const since = "2026-11-21T09:00:05.000Z"
    const reports = { to, takenAt, problem: { since, reason: "it is away" } }
    const found = (seconds: number) => read(slice(reports), Date.parse(since) + seconds * 1000).problems
    expect(rowsOfReports(reports)).toEqual([row(`not accepted since ${since}: it is away`, "warn")])
    expect(found(29)).toEqual([])
    expect(found(30)).toEqual([
      {
        code: "hub:silent",
        severity: "warning",
        subject: to,
        text: `The hub has not accepted reports since ${since}: it is away`,
        since
      }
    ])
  })
})

describe("a disk with little room", () => {
  const slice = (freeBytes: number, failing: Partial<ContentState> = {}, freeFiles = 50): ContentState => ({
    kind: "content",
    versionId,
    sources: {},
    disk: { freeBytes, versionBytes: 3_000_000, freeFiles, versionFiles: 50 },
    ...failing
  })
  const problems = (state: ContentState) =>
    (read(state, Date.parse(heardAt)).problems ?? []).map(({ code, severity }) => [code, severity])

  it("is a warning if another version of the size of the active one does not fit", () => {
    expect(problems(slice(3_000_000))).toEqual([])
    expect(problems(slice(2_999_999))).toEqual([["content:disk", "warning"]])
  })

  it("is a warning if it has fewer inodes left than the active version has files", () => {
    const [problem] = read(slice(3_000_000, {}, 49), Date.parse(heardAt)).problems ?? []
    expect(problem).toMatchObject({ code: "content:disk", severity: "warning" })
    expect(problem?.text).toContain('has room for 49 more files (inodes, "df -i"), and a version has 50')
  })

  it("is a warning if it is read-only, however much room it has", () => {
    const disk = { freeBytes: 4_000_000, versionBytes: 3_000_000, versionFiles: 50, isReadOnly: true }
    const [problem] = read(slice(0, { disk }), Date.parse(heardAt)).problems ?? []
    expect(problem).toMatchObject({ code: "content:disk", severity: "warning" })
    expect(problem?.text).toContain('The disk of "content" is read-only: no version can be saved.')
  })

  it("is listed before the fetches that fail", () => {
    const error = { name: "Error", message: "the disk is full" }
    const lastFetch = { timestamp: heardAt, durationMs: 1, sourceId: "exhibits", error } as const
    expect(problems(slice(0, { failingSince: heardAt, lastFetch }))).toEqual([
      ["content:disk", "error"],
      ["content:failing", "warning"]
    ])
  })
})

describe("a problem of a content that is not found any more", () => {
  const fetched = { timestamp: heardAt, records: 2, bytes: 10, durationMs: 5 }
  const asked: Omit<ContentState, "kind"> = {
    sources: { base: { lastSuccess: { ...fetched, sourceId: "base" } } },
    lastFetch: { ...fetched, changed: false, versionId },
    copiedFrom: { url: "http://hub", askedAt: heardAt, versionId },
    reports: { to: "http://hub", takenAt: heardAt }
  }
  const reasonsOf = (slice: Omit<ContentState, "kind">) => {
    const { unwatched } = read({ kind: "content", versionId, ...slice }, Date.parse(heardAt))
    return Object.fromEntries(
      [
        ["content:held", "content"],
        ["content:failing", "content"],
        ["gone:records", "base"],
        ["source:waiting", "base"],
        ["source:waiting", "gone"],
        ["content:upstream", "http://hub"],
        ["hub:silent", "http://hub"]
      ].map(([code = "", subject = ""]) => [
        `${code} ${subject}`,
        unwatched?.({ code, subject, severity: "warning", text: "" })
      ])
    )
  }

  it("is over once the content was fetched and its hub was asked", () => {
    expect(reasonsOf(asked)).toEqual({ "source:waiting gone": "not configured" })
  })

  it("is not watched before, except if what is on disk says it", () => {
    const { lastFetch: _, ...unfetched } = asked
    expect(reasonsOf({ ...unfetched, sources: { base: {} } })).toEqual({
      "content:failing content": "not fetched yet",
      "gone:records base": "not fetched yet",
      "source:waiting base": "not fetched yet",
      "source:waiting gone": "not configured"
    })
  })

  it("is not watched while its source fails, if the source would say it", () => {
    expect(reasonsOf({ ...asked, sources: { base: {} } })).toEqual({
      "gone:records base": "not fetched yet",
      "source:waiting gone": "not configured"
    })
  })

  it("is not watched while its hub is away, or if the hub is another one now", () => {
    expect(
      reasonsOf({
        ...asked,
        copiedFrom: { url: "http://hub", askedAt: heardAt, problem: "away" },
        reports: { to: "http://other" }
      })
    ).toEqual({
      "source:waiting gone": "not configured",
      "content:upstream http://hub": "not known",
      "hub:silent http://hub": "not configured"
    })
  })
})

describe("old content in the status", () => {
  const slice: ContentState = {
    kind: "content",
    versionId,
    sources: { tours: {} },
    kept: [{ sourceId: "tours", since: heardAt }]
  }
  const oldRows = (more: Partial<ContentState> = {}) =>
    sectionRows({ ...slice, ...more }).filter((row) => row.type === "kv" && row.label === "Old content")

  it("is a warning where sources are fetched, and refers to the hub on a player", () => {
    expect(oldRows()).toMatchObject([{ tone: "warn", value: expect.stringMatching(/began to fail$/) }])
    expect(oldRows({ copiedFrom: { url: "http://hub/" } })).toMatchObject([
      { tone: "neutral", value: expect.stringMatching(/is in the status of the hub$/) }
    ])
  })

  it("is not told again if fetches fail", () =>
    expect(
      oldRows({ lastFetch: { timestamp: heardAt, error: { name: "E", message: "no network" } } })
    ).toEqual([]))
})
