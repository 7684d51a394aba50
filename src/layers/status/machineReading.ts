/**
 * What the state means for the screens and players that this machine is to have.
 */
import type { ReadSlice } from "../../services/ControllerState.ts"
import * as mutes from "./mutedProblems.ts"
import { playerMetrics } from "./playerMetrics.ts"
import { playersOf } from "./players.ts"
import * as playerTexts from "./playerTexts.ts"
import { screensOf } from "./screens.ts"

export const reading: ReadSlice = (_slice, { now, state }) => {
  const fleet = playersOf(state, now)
  return {
    sections: [...playerTexts.sectionsOf(fleet, state), ...mutes.sectionsOf(state, now)],
    problems: [...screensOf(state, now), ...fleet].flatMap(({ problems }) => problems),
    metrics: () => playerMetrics(fleet)
  }
}
