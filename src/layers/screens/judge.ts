/**
 * Judges the screens and players of a state.
 */
import type { Judge } from "../status/view.ts"
import * as Players from "./PlayersReport.ts"
import { playersOf } from "./players.ts"
import { screensOf } from "./screens.ts"
import { unwatchedScreens } from "./unwatched.ts"

export const judge: Judge = ({ knownSince, now, readAt, startedAt, state }) => {
  const screens = screensOf(state, now, readAt, knownSince)
  const context = { now, state, screens, players: playersOf(state, now, knownSince, startedAt) }
  return {
    ...context,
    reports: [
      ["players", Players.report(undefined, context)],
      ["screens", { unwatched: unwatchedScreens(context) }]
    ]
  }
}
