/**
 * Screens and players for the page: the worst first, and only as many as fit on a page.
 */
import * as Array from "effect/Array"
import * as Record from "effect/Record"
import type { Player } from "../../services/PlayerReport.ts"
import type { PlayerStatus, ScreenStatus } from "../../services/View.ts"
import { detailOf } from "../screens/playerTexts.ts"
import { toneOf, worstTone } from "../status/rows.ts"

/** A screen, or a player. */
export interface Tile {
  readonly name: string
  readonly word: string
  readonly tone: "ok" | "held" | "warn" | "error" | "neutral"
  /** When the state in `word` began, ISO 8601, UTC; missing if unknown. */
  readonly since?: string | undefined
  /** The version on the screen, or the last known version. */
  readonly versionId?: string | undefined
  /** Set if the configuration expects others, but not this screen or player. */
  readonly isUnexpected?: true | undefined
  /** The problem, if `word` does not say enough. */
  readonly text?: string | undefined
  /** How much of the next version a player has copied, in percent. */
  readonly percent?: number | undefined
  /** The number of screens of a player, and the first screens with problems. */
  readonly screens?:
    | {
        readonly count: number
        readonly unwell: ReadonlyArray<Pick<Tile, "name" | "word" | "tone">>
      }
    | undefined
  /** The names of its screens, and their ids for `content.screen` and pictures; missing if no screen can be asked. */
  readonly asked?: ReadonlyArray<{ readonly id: string; readonly name: string }> | undefined
  /** The content of a screen; missing for a player. */
  readonly content?: string | undefined
}

export interface Tiles {
  readonly shown: ReadonlyArray<Tile>
  /** How many there are in total, by `word`. */
  readonly words: Readonly<Record<string, number>>
}

/** Limits: tiles in total, and per player the screens with problems and the screens that can be asked. */
export const maxTiles = 200
export const maxUnwell = 4
export const maxAsked = 4

export const screenTiles = (screens: ReadonlyArray<ScreenStatus>): Tiles => tiles(screens, screenTile)

export const playerTiles = (players: ReadonlyArray<PlayerStatus>): Tiles => tiles(players, playerTile)

const tiles = <A extends { readonly isExpected: boolean; readonly word: string }>(
  all: ReadonlyArray<A>,
  tileOf: (one: A) => Tile
): Tiles => {
  const isAnyExpected = all.some(({ isExpected }) => isExpected)
  return {
    shown: all.slice(0, maxTiles).map((one) => ({
      ...tileOf(one),
      isUnexpected: (isAnyExpected && !one.isExpected) || undefined
    })),
    words: Record.map(
      Array.groupBy(all, ({ word }) => word),
      ({ length }) => length
    )
  }
}

const screenTile = ({ content, id, lastReport, name, problems, since, word }: ScreenStatus): Tile => ({
  name,
  word,
  tone: worstTone({ problems }, word === "showing" ? "ok" : "neutral"),
  since,
  versionId: lastReport?.versionId,
  text: word === "problem" ? (lastReport?.problem ?? problems[0]?.text) : undefined,
  content,
  asked: content === undefined ? undefined : [{ id, name }]
})

const playerTile = (player: PlayerStatus): Tile => {
  const { id, lastReport, name, since, word } = player
  const { copiedPercent, screens = [], versionId } = lastReport ?? {}
  const asked = screens.slice(0, maxAsked).map((screen) => ({
    id: `${id}/${screen.id}`,
    name: screen.label ?? screen.id
  }))
  return {
    name,
    word,
    tone: worstTone(player, toneOfPlayer[word] ?? "neutral"),
    since,
    versionId,
    text: playerText(player),
    percent: word === "copying" && copiedPercent !== undefined ? Math.round(copiedPercent) : undefined,
    screens: lastReport === undefined ? undefined : screensOfPlayer(lastReport),
    asked: asked.length === 0 ? undefined : asked
  }
}

/** The tone of a player without problems. */
const toneOfPlayer: { readonly [word in PlayerStatus["word"]]?: Tile["tone"] } = {
  "up to date": "ok",
  copying: "held",
  behind: "warn",
  held: "held",
  problem: "error"
}

/** The first problem that a player reports, except problems of its screens, or who stopped it. Nothing for a silent player: its report is old. */
const playerText = (player: PlayerStatus): string | undefined => {
  const { lastReport, problems, word } = player
  if (word === "silent") {
    return undefined
  }
  if (word === "stopped") {
    return detailOf(player)
  }
  const found =
    problems.find(({ code }) => code === "player:duplicate") ??
    lastReport?.problems.find(({ code }) => !isOfScreen(code))
  return found?.text
}

const isOfScreen = (code: string): boolean => code.startsWith("screen:")

const screensOfPlayer = ({ problems, screens }: Player): NonNullable<Tile["screens"]> => ({
  count: screens.length,
  unwell: screens
    .filter(({ word }) => word !== "showing")
    .slice(0, maxUnwell)
    .map(({ id, label = id, word }) => {
      const problem = problems.find(({ code, subject }) => isOfScreen(code) && subject === id)
      return { name: label, word, tone: problem === undefined ? "neutral" : toneOf(problem) }
    })
})
