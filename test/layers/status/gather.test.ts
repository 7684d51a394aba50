import { describe, expect, it } from "@effect/vitest"
import type { DashboardState } from "../../../src/layers/dashboard/DashboardState.ts"
import type { NatsState } from "../../../src/layers/nats/pluginReport.ts"
import { nothingRemembered, remember } from "../../../src/layers/status/problems.ts"
import { healthOf } from "../../../src/layers/status/view.ts"
import type { ContentServerState, TransportState } from "../../../src/services/Slices.ts"
import { player } from "../../support/fleet.ts"
import { readState } from "../../support/readState.ts"

const since = "2026-11-22T09:00:00.000Z"
const away = { since, reason: "no connection" }

const transport: TransportState = {
  kind: "http-transport",
  path: "/",
  maxClients: 8,
  clients: 7,
  streams: [],
  mostClients: 7,
  eventsForwarded: 1,
  framesMissed: 0,
  clientsDropped: 0
}

const server: ContentServerState = {
  kind: "content-server",
  url: "http://127.0.0.1:8730",
  maxConnections: 32,
  connections: 31,
  openResponses: 0,
  requests: 1,
  bytes: 1
}

const dashboard: DashboardState = {
  kind: "dashboard",
  url: "http://127.0.0.1:8720",
  pages: 31,
  maxPages: 32
}

const nats: NatsState = {
  kind: "nats",
  servers: "nats://hub",
  prefix: "vitrine",
  link: { since, server: "nats://hub", name: "hub" },
  waiting: { events: 0, commands: 0 },
  failures: 0
}

const problems = (plugins: Readonly<Record<string, unknown>>) =>
  readState({ system: { startTime: since, mode: "persistent" }, plugins }, Date.parse(since)).problems

const said = (plugins: Readonly<Record<string, unknown>>) =>
  problems(plugins).map(({ code, severity, text }) => [code, severity, text])

describe("the problems of a state", () => {
  it("include a state that is not as expected", () => {
    expect(problems({ "http-transport": { ...transport, clients: -1 } })).toMatchObject([
      {
        code: "state:invalid",
        severity: "error",
        subject: "http-transport",
        text: 'The state of "http-transport" is not as expected, so its status is not known. clients: Expected a non-negative number, actual -1'
      }
    ])
    expect(problems({ "http-transport": { url: "http://127.0.0.1" } })).toEqual([])
  })

  it("are none if everything is connected and below its limits", () => {
    expect(problems({ "http-transport": transport, "content-server": server, dashboard, nats })).toEqual([])
  })

  it("have one sentence for event streams that lost events, were refused or are all in use", () => {
    const largestOrigin = { origin: "http://evil.example", streams: 6 }
    const full = {
      ...transport,
      clients: 8,
      largestOrigin,
      framesMissed: 3,
      clientsDropped: 1,
      lastMissed: since,
      problem: away
    }
    expect(said({ "http-transport": full })).toEqual([
      [
        "transport:no-events",
        "warning",
        `The HTTP transport receives no events since ${since}: no connection`
      ],
      [
        "transport:full",
        "warning",
        'All 8 event streams of the HTTP transport are open: further clients are refused. The status lists the clients. Close one, or raise "maxClients"'
      ],
      [
        "transport:crowded",
        "warning",
        'Pages of http://evil.example use 6 of 8 event streams. If it is not your page, set "allowedOrigins" to refuse it.'
      ],
      [
        "transport:missed",
        "warning",
        `Clients of the HTTP transport were too slow for 3 events since the start, and 1 client disconnected, last at ${since}`
      ]
    ])
  })

  it("are over ten minutes after a client was too slow for its events", () => {
    const missed = (lastMissed: string) =>
      problems({ "http-transport": { ...transport, framesMissed: 3, clientsDropped: 1, lastMissed } })
    expect(missed("2026-11-22T08:50:00.001Z")).toMatchObject([{ code: "transport:missed" }])
    expect(missed("2026-11-22T08:50:00.000Z")).toEqual([])
  })

  it("are over ten minutes after the last event that could not be published on NATS", () => {
    const failed = (at: string) =>
      problems({ nats: { ...nats, failures: 1, lastFailure: { at, reason: "no answer" } } })
    expect(failed("2026-11-22T08:50:00.001Z")).toMatchObject([{ code: "nats:unpublished" }])
    expect(failed("2026-11-22T08:50:00.000Z")).toEqual([])
  })

  it("are warnings if no events come, because screens still get new versions", () => {
    const plugins = {
      "http-transport": { ...transport, problem: away },
      nats: { ...nats, link: { since, problem: "no answer" } }
    }
    expect(healthOf(problems(plugins))).toBe("WARNING")
  })

  it("name the transport, if there are several", () => {
    expect(problems({ kiosk: { ...transport, problem: away }, "http-transport": transport })).toEqual([
      {
        code: "transport:no-events",
        severity: "warning",
        subject: "kiosk",
        text: `The HTTP transport "kiosk" receives no events since ${since}: no connection`
      }
    ])
  })

  it("include a server at its limit and a dashboard without data, which do not affect visitors", () => {
    const codes = said({
      "content-server": { ...server, connections: 32 },
      dashboard: { ...dashboard, pages: 32, problem: away }
    }).map(([code, severity]) => [code, severity])
    expect(codes).toEqual([
      ["content-server:full", "warning"],
      ["dashboard:no-events", "warning"],
      ["dashboard:full", "warning"]
    ])
  })

  it("include the failures of NATS", () => {
    const plugins = {
      nats: {
        ...nats,
        link: { since, problem: "no answer" },
        unknownElsewhere: { commands: ["lamp.on", "lamp.off"], reason: "no answer" },
        failures: 2,
        lastFailure: { at: since, reason: "no answer" }
      }
    }
    expect(said(plugins)).toEqual([
      [
        "nats:away",
        "warning",
        `There has been no connection to NATS at nats://hub since ${since}: no answer`
      ],
      ["nats:commands", "warning", "Other processes do not know the commands lamp.on, lamp.off: no answer"],
      [
        "nats:unpublished",
        "warning",
        `2 events could not be published on NATS since the start, the last at ${since}: no answer`
      ]
    ])
  })
})

describe("a muted problem", () => {
  const until = "2026-11-22T10:00:00.000Z"
  const mute = (name: string) => ({ kind: "mutes", mutes: [{ name, until, by: "anna" }] })
  const read = (plugins: Readonly<Record<string, unknown>>) =>
    readState({ system: { startTime: since, mode: "persistent" }, plugins }, Date.parse(since)).sections.find(
      ({ name }) => name === "lamps"
    )?.rows

  it("is neutral in the section of its slice, with the name of the person who muted it", () => {
    const lamps = { problems: [{ code: "lamp:broken", severity: "error", text: "It is broken" }] }
    expect(read({ lamps })?.[0]).toEqual({ type: "text", text: "It is broken", tone: "error" })
    expect(read({ lamps, mutes: mute("lamp:broken") })?.[0]).toEqual({
      type: "text",
      text: `It is broken (muted until ${until} by anna)`,
      tone: "neutral"
    })
  })
})

it("warnings of this machine and of expected players come before errors of players that nobody expects", () => {
  const startTime = "2026-11-22T08:00:00.000Z"
  const problems = Array.from({ length: 32 }, (_, index) => ({
    code: "lamp:broken",
    severity: "error" as const,
    subject: `lamp ${index}`,
    text: "broken"
  }))
  const heard = { heardAt: since, sentAt: since }
  const players = [
    ...Array.from({ length: 9 }, (_, index) => player({ ...heard, node: { id: `a${index}` }, problems })),
    player({
      ...heard,
      node: { id: "hall-3" },
      problems: [{ code: "disk:full", severity: "warning", text: "The disk is full" }]
    })
  ]
  const { problems: found } = readState(
    {
      system: { startTime, mode: "persistent", players: [{ id: "hall-3" }] },
      plugins: { "content-server": { ...server, connections: 32, players } }
    },
    Date.parse(since)
  )
  const { problems: standing } = remember(
    nothingRemembered,
    found.map((problem) => ({ plugin: "players", problem })),
    since
  )
  expect(standing).toHaveLength(256)
  expect(standing.map(({ code }) => code)).toEqual(
    expect.arrayContaining(["content-server:full", "disk:full"])
  )
  expect(standing.findIndex(({ severity }) => severity === "warning")).toBe(254)
})
