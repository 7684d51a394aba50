/**
 * The data of the page about the controller.
 */

import * as Effect from "effect/Effect"
import * as Number from "effect/Number"
import * as Struct from "effect/Struct"
import { type ContentCounts, sumCounts } from "../../internal/contentCounts.ts"
import { CommandBus } from "../../services/CommandBus.ts"
import { ControllerState, type Node } from "../../services/ControllerState.ts"
import { contentCommands } from "../../services/contentCommands.ts"
import { ScreenPictures } from "../../services/ScreenPictures.ts"
import type { VersionsReport } from "../../services/VersionStore.ts"
import type { ContentStatus, View } from "../../services/View.ts"
import { define } from "../memory/definedCommands.ts"
import { isOff } from "../screens/playerTexts.ts"
import { countOn } from "../screens/screens.ts"
import { isHealthy } from "../status/rows.ts"
import type { Actions } from "./Access.ts"
import { playerTiles, screenTiles, type Tiles } from "./tiles.ts"

export interface Overview extends Pick<View, "now" | "problems" | "word"> {
  readonly isHealthy: boolean
  /** ISO 8601, UTC. */
  readonly startTime: string
  readonly node?: Node | undefined
  readonly actions: Actions
  readonly contents: ReadonlyArray<ContentOverview>
  /** The number of all problems, if `problems` does not contain all. */
  readonly problemCount?: number | undefined
  readonly screens: Tiles
  /** The times of the last pictures of screens, ISO 8601, UTC, by the ids in `asked`. */
  readonly pictures: ReadonlyArray<{ readonly screen: string; readonly takenAt: string }>
  /** Missing if no player is expected, and none can report. */
  readonly players?: Tiles | undefined
}

export interface ContentOverview
  extends Omit<ContentStatus, "activeSince" | "fetchedPercent" | "rejection" | "reports"> {
  /** Who released the active version; missing if nobody had to release it. */
  readonly released?: VersionsReport["released"] | undefined
  /** The latest versions on disk, the newest first; missing if the content has no command for them. */
  readonly versions?: ReadonlyArray<ShownVersion> | undefined
}

export interface ShownVersion
  extends Pick<VersionsReport["versions"][number], "active" | "changes" | "isWaiting" | "versionId"> {
  /** How many screens show it. */
  readonly screens: number
  /** How many players have it. */
  readonly players: number
  /** The size of all its sources; absent if its list of files cannot be read. */
  readonly size?: (ContentCounts & { readonly files: number; readonly bytes: number }) | undefined
}

/** How many versions of a content, and how many problems, the page gets. */
const maxVersions = 50
const maxProblems = 50

/** How long reading a version store may take. */
const patience = "5 seconds"

export const makeOverview = Effect.fnUntraced(function* (actions: Actions) {
  const commands = yield* CommandBus
  const { read } = yield* ControllerState
  const { times } = yield* ScreenPictures

  const versionsOf = (name: string) =>
    define(contentCommands(name).versions)
      .dispatch({}, { timeout: patience })
      .pipe(
        Effect.provideService(CommandBus, commands),
        Effect.orElseSucceed(() => undefined)
      )

  return Effect.gen(function* () {
    const { view } = yield* read
    const { header, now, players, problems, screens, word } = view
    const contents = yield* Effect.forEach(
      view.contents,
      (content) => Effect.map(versionsOf(content.name), (report) => contentOverview(content, report, view)),
      { concurrency: "unbounded" }
    )
    return {
      now,
      word,
      isHealthy: isHealthy(word),
      problems: problems.slice(0, maxProblems),
      startTime: header.startTime,
      actions,
      contents,
      screens: screenTiles(screens),
      pictures: yield* times,
      node: header.node,
      problemCount: problems.length > maxProblems ? problems.length : undefined,
      players: players && playerTiles(players)
    } satisfies Overview
  })
})

const contentOverview = (
  content: ContentStatus,
  report: VersionsReport | undefined,
  { players = [], screens }: View
): ContentOverview => {
  const ofContent = screens.filter((screen) => screen.content === content.name)
  const reporting = players.filter(({ word }) => !isOff(word))
  return {
    ...Struct.omit(content, "activeSince", "fetchedPercent", "rejection", "reports"),
    released: report?.released,
    versions: report?.versions
      .slice(-maxVersions)
      .toReversed()
      .map(({ sources, ...version }) => ({
        ...Struct.pick(version, "active", "changes", "isWaiting", "versionId"),
        screens: countOn(ofContent, version.versionId),
        players: reporting.filter(({ lastReport }) => lastReport?.versionId === version.versionId).length,
        size: sources && sizeOf(sources)
      }))
  }
}

const sizeOf = (sources: NonNullable<VersionsReport["versions"][number]["sources"]>) => ({
  ...sumCounts(sources),
  files: Number.sumAll(sources.map(({ files }) => files)),
  bytes: Number.sumAll(sources.map(({ bytes }) => bytes))
})
