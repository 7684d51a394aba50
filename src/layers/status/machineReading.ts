/**
 * What the state means for the screens and players that this machine is to have.
 */
import type { ReadSlice } from "../../services/ControllerState.ts"
import * as mutes from "./mutes.ts"
import { playerMetrics } from "./playerMetrics.ts"
import * as players from "./players.ts"
import { screensOf } from "./screens.ts"

export const reading: ReadSlice = (_slice, { now, state }) => {
  const fleet = players.playersOf(state, now)
  return {
    sections: [...players.sectionsOf(fleet, state), ...mutes.sectionsOf(state, now)],
    problems: [...screensOf(state, now), ...fleet].flatMap(({ problems }) => problems),
    metrics: () => playerMetrics(fleet)
  }
}
