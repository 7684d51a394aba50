/**
 * Screens and players as the page shows them: the worst first, and no more of them than fit on a page.
 */
import * as Array from "effect/Array"
import * as Record from "effect/Record"
import { defined } from "../../internal/schemas.ts"
import type { Player } from "../../services/PlayerReport.ts"
import type { PlayerStatus, ScreenStatus } from "../../services/View.ts"
import { detailOf } from "../screens/playerTexts.ts"
import { toneOf, worstTone } from "../status/rows.ts"

/** A screen, or a player. */
export interface Tile {
  readonly name: string
  readonly word: string
  readonly tone: "ok" | "held" | "warn" | "error" | "neutral"
  /** Since when the word is right, ISO 8601, UTC; missing where that is not known. */
  readonly since?: string
  /** What it shows, or was last known to show. */
  readonly versionId?: string
  /** Whether nobody expects it, though others are expected. */
  readonly isUnexpected?: true
  /** What is wrong, where the word is not enough. */
  readonly text?: string
  /** How much of the next version a player has copied. */
  readonly percent?: number
  /** How many screens a player has, and the first of those that do not show what they should. */
  readonly screens?: {
    readonly count: number
    readonly unwell: ReadonlyArray<Pick<Tile, "name" | "word" | "tone">>
  }
  /** What its screens are called, and their ids for `content.screen`; missing where there is none to ask. */
  readonly asked?: ReadonlyArray<{ readonly id: string; readonly name: string }>
  /** The content of a screen; missing of a player. */
  readonly content?: string
}

export interface Tiles {
  readonly shown: ReadonlyArray<Tile>
  /** How many there are in all, by their words. */
  readonly words: Readonly<Record<string, number>>
}

/** How many are shown, of how many screens of a player more than their number, and how many of these can be asked. */
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
      ...(isAnyExpected && !one.isExpected ? { isUnexpected: true as const } : {})
    })),
    words: Record.map(
      Array.groupBy(all, ({ word }) => word),
      ({ length }) => length
    )
  }
}

const screenTile = ({ content, id, name, problems, said, since, word }: ScreenStatus): Tile => ({
  name,
  word,
  tone: worstTone({ problems }, word === "showing" ? "ok" : "neutral"),
  ...defined({
    since,
    versionId: said?.versionId,
    text: word === "problem" ? (said?.problem ?? problems[0]?.text) : undefined,
    content,
    asked: content === undefined ? undefined : [{ id, name }]
  })
})

const playerTile = (player: PlayerStatus): Tile => {
  const { id, name, said, since, word } = player
  const { copiedPercent, screens = [], versionId } = said ?? {}
  const asked = screens.slice(0, maxAsked).map((screen) => ({
    id: `${id}/${screen.id}`,
    name: screen.label ?? screen.id
  }))
  return {
    name,
    word,
    tone: worstTone(player, toneOfPlayer[word] ?? "neutral"),
    ...defined({
      since,
      versionId,
      text: playerText(player),
      percent: word === "copying" && copiedPercent !== undefined ? Math.round(copiedPercent) : undefined,
      screens: said === undefined ? undefined : screensOfPlayer(said),
      asked: asked.length === 0 ? undefined : asked
    })
  }
}

/** Where nothing is wrong. */
const toneOfPlayer: { readonly [word in PlayerStatus["word"]]?: Tile["tone"] } = {
  "up to date": "ok",
  copying: "held",
  behind: "warn",
  held: "held",
  problem: "error"
}

/** What it says first of itself, but for its screens, which are named, or who stopped it; of one that is silent that is old. */
const playerText = (player: PlayerStatus): string | undefined => {
  const { problems, said, word } = player
  if (word === "silent") {
    return undefined
  }
  if (word === "stopped") {
    return detailOf(player)
  }
  const found =
    problems.find(({ code }) => code === "player:duplicate") ??
    said?.problems.find(({ code }) => !isOfScreen(code))
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
