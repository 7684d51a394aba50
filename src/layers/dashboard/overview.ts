/**
 * What the page shows of the controller, as data.
 */
import * as Effect from "effect/Effect"
import * as Number from "effect/Number"
import * as Schema from "effect/Schema"
import * as Struct from "effect/Struct"
import { defined } from "../../internal/defined.ts"
import { CommandBus } from "../../services/CommandBus.ts"
import { ControllerState, type GlobalState, type Node } from "../../services/ControllerState.ts"
import type { ContentState } from "../../services/Slices.ts"
import { VersionsReport } from "../../services/VersionStore.ts"
import { type Health, healthOf, problemsOf } from "../status/Health.ts"
import { isOff, type PlayerStatus, playersOf, takesReports } from "../status/players.ts"
import { countOn, type ScreenStatus, screensOf } from "../status/screens.ts"
import { contentServersOf, contentsOf } from "../status/slices.ts"
import type { Actions } from "./access.ts"
import { playerTiles, screenTiles, type Tiles } from "./tiles.ts"

export interface Overview extends Health {
  /** The controller's time, in milliseconds since 1970: that of the reader may be another. */
  readonly now: number
  /** ISO 8601, UTC. */
  readonly startTime: string
  readonly node?: Node
  readonly actions: Actions
  readonly contents: ReadonlyArray<ContentOverview>
  /** How many problems there are in all, where not all of them are in `problems`. */
  readonly problemCount?: number
  readonly screens: Tiles
  /** Where players can report to this machine. */
  readonly players?: Tiles
}

export interface ContentOverview
  extends Pick<
    ContentState,
    "fetchingSince" | "generatedAt" | "held" | "lastSuccess" | "nextFetch" | "versionId"
  > {
  readonly name: string
  readonly lastFetch?: { readonly timestamp: string; readonly failed: boolean }
  /** Who released the active version; missing where it has not waited for somebody. */
  readonly released?: VersionsReport["released"]
  /** The address of its page, which may show what waits; missing where its content server serves none. */
  readonly page?: string
  /** Where that listens on all interfaces of this machine: the page is there under the name by which a browser has found the dashboard. */
  readonly everywhere?: boolean
  /** The latest ones on disk, the newest first; missing where the content has no command that says so. */
  readonly versions?: ReadonlyArray<ShownVersion>
}

export interface ShownVersion
  extends Pick<VersionsReport["versions"][number], "active" | "changes" | "isWaiting" | "versionId"> {
  /** On how many screens it is. */
  readonly screens: number
  /** On how many players it is. */
  readonly players: number
  /** The size of all its sources; absent if its list of files cannot be read. */
  readonly size?: { readonly records: number; readonly files: number; readonly bytes: number }
}

/** How many versions of a content are shown, and how many problems. */
const maxVersions = 50
const maxProblems = 50

const decodeVersions = Schema.decodeUnknown(VersionsReport)

/** How long a store of versions may take to be read. */
const patience = "5 seconds"

/** Whether all is well, by the controller's own state. */
export const makeHealth = Effect.map(ControllerState, ({ read }) =>
  Effect.map(read, ({ metrics, now, state }) => ({ ...healthOf(problemsOf(state)), metrics, now, state }))
)

export const makeOverview = Effect.fnUntraced(function* (actions: Actions) {
  const commands = yield* CommandBus
  const readHealth = yield* makeHealth

  const versionsOf = (name: string) =>
    commands.dispatch({ type: `${name}.versions` }, { timeout: patience }).pipe(
      Effect.flatMap(decodeVersions),
      Effect.orElseSucceed(() => undefined)
    )

  return Effect.gen(function* () {
    const { metrics: _, problems, state, ...health } = yield* readHealth
    const { node, startTime } = state.system
    const screens = screensOf(state, health.now)
    const players = playersOf(state, health.now)
    const contents = yield* Effect.forEach(
      contentsOf(state),
      ([name, content]) =>
        Effect.map(versionsOf(name), (report) => ({
          ...contentOverview(name, content, report, screens, players),
          ...pageOf(name, state)
        })),
      { concurrency: "unbounded" }
    )
    return {
      ...health,
      problems: problems.slice(0, maxProblems),
      startTime,
      actions,
      contents,
      screens: screenTiles(screens),
      ...defined({
        node,
        problemCount: problems.length > maxProblems ? problems.length : undefined,
        players: takesReports(state) ? playerTiles(players) : undefined
      })
    } satisfies Overview
  })
})

/** That of the content server that is there for this content. */
const pageOf = (content: string, state: GlobalState): Pick<ContentOverview, "everywhere" | "page"> => {
  const server = contentServersOf(state).find(([name]) => name === `${content}-server`)?.[1]
  return server?.page === undefined ? {} : Struct.pick(server, "page", "everywhere")
}

const contentOverview = (
  name: string,
  content: ContentState,
  report: VersionsReport | undefined,
  screens: ReadonlyArray<ScreenStatus>,
  players: ReadonlyArray<PlayerStatus>
): ContentOverview => {
  const { lastFetch } = content
  const ofContent = screens.filter((screen) => screen.content === name)
  const reporting = players.filter(({ word }) => !isOff(word))
  return {
    ...Struct.pick(content, "fetchingSince", "generatedAt", "held", "lastSuccess", "nextFetch", "versionId"),
    name,
    ...defined({
      lastFetch: lastFetch && { timestamp: lastFetch.timestamp, failed: "error" in lastFetch },
      released: report?.released,
      versions: report?.versions
        .slice(-maxVersions)
        .toReversed()
        .map(({ sources, ...version }) => ({
          ...Struct.pick(version, "active", "changes", "isWaiting", "versionId"),
          screens: countOn(ofContent, version.versionId),
          players: reporting.filter(({ said }) => said?.versionId === version.versionId).length,
          ...defined({ size: sources && sizeOf(sources) })
        }))
    })
  }
}

const sizeOf = (sources: NonNullable<VersionsReport["versions"][number]["sources"]>) => ({
  records: Number.sumAll(sources.map(({ records = 0 }) => records)),
  files: Number.sumAll(sources.map(({ files }) => files)),
  bytes: Number.sumAll(sources.map(({ bytes }) => bytes))
})
