/**
 * The sections of the status that are made of the state.
 */
import * as String from "effect/String"
import type { Slice } from "../../services/Slices.ts"
import type { GlobalState, Section } from "../../services/StatusSnapshot.ts"
import * as content from "./content.ts"
import * as nats from "./nats.ts"
import { type PlayerStatus, sectionsOf as playerSectionsOf } from "./players.ts"
import { problemRow } from "./rows.ts"
import type { ScreenStatus } from "./screens.ts"
import * as servers from "./servers.ts"
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
      return { name, order: 30, title: "Content server", rows: servers.contentServerRows(slice) }
    case "nats":
      return { name, order: 30, title: "NATS", rows: nats.rows(slice) }
    case "dashboard":
      return { name, order: 40, title: "Dashboard", rows: servers.dashboardRows(slice) }
  }
}
