/**
 * The sections of the status that are made of the state.
 */
import * as String from "effect/String"
import { countText, sizeText } from "../../internal/readable.ts"
import type { ContentServerState, DashboardState, NatsState, Slice } from "../../services/Slices.ts"
import type { GlobalState, Row, Section } from "../../services/StatusSnapshot.ts"
import * as content from "./content.ts"
import { type PlayerStatus, sectionsOf as playerSectionsOf } from "./players.ts"
import { kv, problemRow } from "./rows.ts"
import type { ScreenStatus } from "./screens.ts"
import { type Named, reported } from "./slices.ts"
import * as transport from "./transport.ts"

const defaultOrder = 50

/** What was found in a state, at this time in milliseconds since 1970. */
interface Found {
  readonly now: number
  readonly slices: ReadonlyArray<Named<Slice>>
  readonly screens: ReadonlyArray<ScreenStatus>
  readonly players: ReadonlyArray<PlayerStatus>
}

/**
 * All sections in their order: of Vitrine's plugins by their slices, and those that were added. Problems that are reported in a
 * slice come first in the added section of its name, or have one of their own.
 */
export const sectionsOf = (
  { plugins }: Pick<GlobalState, "plugins">,
  added: ReadonlyArray<Section>,
  { now, players, screens, slices }: Found
): ReadonlyArray<Section> => {
  const rowsOfProblems = new Map(
    Object.entries(plugins).flatMap(([name, slice]) => {
      const rows = reported(slice).map(problemRow)
      return rows.length === 0 ? [] : [[name, rows] as const]
    })
  )
  const own = added.map((section) => {
    const problems = rowsOfProblems.get(section.name) ?? []
    rowsOfProblems.delete(section.name)
    return { ...section, rows: [...problems, ...section.rows] }
  })
  const sections: ReadonlyArray<Section> = [
    ...slices.map((named) => sectionOf(named, screens, now)),
    ...playerSectionsOf(players, slices),
    ...own,
    ...[...rowsOfProblems].map(([name, rows]) => ({ name, title: String.capitalize(name), rows }))
  ]
  return sections.toSorted((one, other) => (one.order ?? defaultOrder) - (other.order ?? defaultOrder))
}

const sectionOf = (
  [name, slice]: Named<Slice>,
  screens: ReadonlyArray<ScreenStatus>,
  now: number
): Section => {
  const titled = (title: string) => (name === slice.kind ? title : `${title}: ${name}`)
  const ofContent = screens.filter(({ content }) => content === name)
  switch (slice.kind) {
    case "content":
      return { name, order: 10, title: titled("Content"), rows: content.rows(slice, ofContent) }
    case "http-transport":
      return { name, order: 20, title: titled("HTTP transport"), rows: transport.rows(slice, now) }
    case "content-server":
      return { name, order: 30, title: "Content server", rows: contentServerRows(slice) }
    case "nats":
      return { name, order: 30, title: "NATS", rows: natsRows(slice) }
    case "dashboard":
      return { name, order: 40, title: "Dashboard", rows: dashboardRows(slice) }
  }
}

const contentServerRows = (slice: ContentServerState): ReadonlyArray<Row> => [
  kv("Address", slice.url),
  used("Connections", slice.connections, slice.maxConnections),
  kv("Responses", `${slice.requests}, ${sizeText(slice.bytes)}; ${slice.openResponses} open`)
]

const dashboardRows = ({ maxPages, pages, problem, url }: DashboardState): ReadonlyArray<Row> => [
  kv("Address", url),
  used("Open pages", pages, maxPages),
  ...transport.busRows(problem)
]

const used = (label: string, count: number, maximum: number): Row =>
  kv(label, `${count} of ${maximum}`, count < maximum ? "ok" : "warn")

const natsRows = (slice: NatsState): ReadonlyArray<Row> => {
  const { failures, lastFailure, link, prefix, servers, unknownElsewhere, waiting } = slice
  return [
    "problem" in link
      ? kv("Connection", `none to ${servers} since ${link.since}: ${link.problem}`, "error")
      : kv("Connection", `${link.server} (${link.name}) since ${link.since}`, "ok"),
    kv("Prefix", prefix),
    ...(unknownElsewhere === undefined ? [] : [unknownRow(unknownElsewhere)]),
    kv(
      "Waiting for the server",
      `${countText(waiting.events, "event")}, ${countText(waiting.commands, "command")} of other processes`
    ),
    lastFailure === undefined
      ? kv("Not published", "none", "ok")
      : kv(
          "Not published",
          `${countText(failures, "event")}, the last at ${lastFailure.at}: ${lastFailure.reason}`,
          "warn"
        )
  ]
}

const unknownRow = ({ commands, reason }: NonNullable<NatsState["unknownElsewhere"]>): Row =>
  kv("Commands", `other processes do not know ${commands.join(", ")}: ${reason}`, "warn")
