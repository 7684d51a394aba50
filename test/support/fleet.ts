/**
 * Reports of players, as a test sends them.
 */
import { vitrineVersion } from "../../src/internal/machine.ts"
import type { Player, PlayerReport } from "../../src/services/PlayerReport.ts"
import type { Request } from "./rawHttp.ts"

/** That of a hub's reports. */
export const token = "0123456789abcdef0123"

/** The request of a player that has the token. */
export const sending = (
  body: string | Uint8Array,
  headers: Readonly<Record<string, string>> = {}
): Request => ({
  method: "POST",
  target: "/vitrine/reports",
  headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json", ...headers },
  body
})

/** That of a player with nothing unusual. */
export const report = (changes: Partial<PlayerReport> = {}): PlayerReport => ({
  vitrine: "0.2.0",
  sentAt: "2026-11-23T10:00:00.000Z",
  node: { id: "hall-3", label: "Hall 3", role: "player" },
  host: "hall-3.museum.example",
  runId: "b3f1",
  startTime: "2026-11-23T08:00:00.000Z",
  versionId: "20261123T080000Z",
  activeSince: "2026-11-23T08:00:01.000Z",
  copiedPercent: 40,
  freeDisk: 12_000_000_000,
  problems: [
    { code: "screen:silent", severity: "error", subject: "left", text: "Screen left is silent", count: 1 }
  ],
  screens: [{ id: "left", label: "Left wall", word: "silent", since: "2026-11-23T09:59:00.000Z" }],
  warnings: ["WARN a cable is loose"],
  ...changes
})

/** A player of which a hub took that report. */
export const player = (changes: Partial<Player> = {}): Player => ({
  ...report(),
  heardAt: "2026-11-23T10:00:00.100Z",
  address: "10.0.0.3",
  clockOffset: -100,
  ...changes
})

/** A player without problems, screens and warnings, whose clock is that of the hub. */
export const wellPlayer = (id: string, heardAt: string, changes: Partial<Player> = {}): Player => ({
  vitrine: vitrineVersion,
  sentAt: heardAt,
  node: { id },
  host: id,
  runId: "a",
  startTime: heardAt,
  problems: [],
  screens: [],
  warnings: [],
  heardAt,
  address: "10.0.0.3",
  clockOffset: 0,
  ...changes
})

/** The slice of a content server with nothing unusual. */
export const serverSlice = <Changes extends object>(changes: Changes) => ({
  kind: "content-server" as const,
  url: "http://127.0.0.1:8730",
  maxConnections: 32,
  connections: 0,
  openResponses: 0,
  requests: 0,
  bytes: 0,
  ...changes
})
