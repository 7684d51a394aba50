/**
 * Screens and players as the page shows them: the worst first, and no more of them than fit on a page.
 */
import type { Player } from "../../services/Slices.ts"
import type { PlayerStatus } from "../status/players.ts"
import { detailOf } from "../status/playerTexts.ts"
import { toneOf, worstTone } from "../status/rows.ts"
import type { ScreenStatus } from "../status/screens.ts"

/** A screen, or a player. */
export interface Tile {
  readonly name: string
  readonly word: string
  readonly tone: "ok" | "held" | "warn" | "error" | "neutral"
  /** Since when the word is right, ISO 8601, UTC; missing where that is not known. */
  readonly since?: string
  /** What it shows, or was last known to show, and whether that is another one than the active one. */
  readonly versionId?: string
  readonly isOther?: true
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

/** `active` is the version that they should have. */
export const playerTiles = (players: ReadonlyArray<PlayerStatus>, active: string | undefined): Tiles =>
  tiles(players, (player) => playerTile(player, active))

const tiles = <A extends { readonly isExpected: boolean; readonly word: string }>(
  all: ReadonlyArray<A>,
  tileOf: (one: A) => Tile
): Tiles => {
  const isAnyExpected = all.some(({ isExpected }) => isExpected)
  const shown = all.slice(0, maxTiles).map((one) => ({
    ...tileOf(one),
    ...(isAnyExpected && !one.isExpected ? { isUnexpected: true as const } : {})
  }))
  return { shown, words: countWords(all) }
}

const countWords = (all: ReadonlyArray<{ readonly word: string }>): Tiles["words"] => {
  const words: Record<string, number> = {}
  for (const { word } of all) {
    words[word] = (words[word] ?? 0) + 1
  }
  return words
}

const screenTile = ({ active, content, id, name, problems, said, since, word }: ScreenStatus): Tile => ({
  name,
  word,
  tone: worstTone({ problems }, word === "showing" ? "ok" : "neutral"),
  ...(since === undefined ? {} : { since }),
  ...(said === undefined ? {} : { versionId: said.versionId }),
  ...(said === undefined || active ? {} : { isOther: true as const }),
  ...(word === "problem" && problems[0] !== undefined ? { text: said?.problem ?? problems[0].text } : {}),
  ...(content === undefined ? {} : { content, asked: [{ id, name }] })
})

const playerTile = (player: PlayerStatus, active: string | undefined): Tile => {
  const { id, name, said, since, word } = player
  const text = playerText(player)
  const asked = (said?.screens ?? []).slice(0, maxAsked).map((screen) => ({
    id: `${id}/${screen.id}`,
    name: screen.label ?? screen.id
  }))
  return {
    name,
    word,
    tone: worstTone(player, toneOfPlayer[word]),
    ...(since === undefined ? {} : { since }),
    ...(said?.versionId === undefined ? {} : { versionId: said.versionId }),
    ...(said?.versionId === undefined || said.versionId === active ? {} : { isOther: true as const }),
    ...(text === undefined ? {} : { text }),
    ...(word !== "copying" || said?.copiedPercent === undefined
      ? {}
      : { percent: Math.round(said.copiedPercent) }),
    ...(said === undefined ? {} : { screens: screensOfPlayer(said) }),
    ...(asked.length === 0 ? {} : { asked })
  }
}

const toneOfPlayer: Readonly<Record<PlayerStatus["word"], Tile["tone"]>> = {
  "up to date": "ok",
  copying: "held",
  behind: "warn",
  held: "held",
  problem: "error",
  silent: "neutral",
  "never seen": "neutral",
  stopped: "neutral",
  "closed for the day": "neutral"
}

/** What it says first of itself, but for its screens, which are named, or who stopped it; of one that is silent that is old. */
const playerText = (player: PlayerStatus): string | undefined => {
  const { problems, said, word } = player
  return word === "silent"
    ? undefined
    : word === "stopped"
      ? detailOf(player)
      : (
          problems.find(({ code }) => code === "player:duplicate") ??
          said?.problems.find(({ code }) => !isOfScreen(code))
        )?.text
}

const isOfScreen = (code: string): boolean => code.startsWith("screen:")

const screensOfPlayer = ({ problems, screens }: Player): NonNullable<Tile["screens"]> => {
  const problemOf = (id: string) => problems.find(({ code, subject }) => isOfScreen(code) && subject === id)
  return {
    count: screens.length,
    unwell: screens
      .filter(({ word }) => word !== "showing")
      .slice(0, maxUnwell)
      .map(({ id, label = id, word }) => {
        const problem = problemOf(id)
        return { name: label, word, tone: problem === undefined ? "neutral" : toneOf(problem) }
      })
  }
}
