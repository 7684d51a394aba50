/**
 * What a state means where its slices are those of Vitrine's own plugins.
 */
import * as Predicate from "effect/Predicate"
import * as contentServer from "../../src/layers/contentServer/pluginReading.ts"
import * as dashboard from "../../src/layers/dashboard/DashboardState.ts"
import type { ContentRules } from "../../src/layers/fetching/ContentOptions.ts"
import * as content from "../../src/layers/fetching/pluginReading.ts"
import * as transport from "../../src/layers/httpTransport/pluginReading.ts"
import * as nats from "../../src/layers/nats/pluginReading.ts"
import * as players from "../../src/layers/screens/PlayersReading.ts"
import { playersOf } from "../../src/layers/screens/players.ts"
import { screensOf } from "../../src/layers/screens/screens.ts"
import { unwatchedScreens } from "../../src/layers/screens/unwatched.ts"
import { nothingRemembered, type Remembered } from "../../src/layers/status/problems.ts"
import { makeView, problemsIn } from "../../src/layers/status/view.ts"
import type { GlobalState, ReadSlice, Section } from "../../src/services/ControllerState.ts"

type Reading = (name: string, rules: ContentRules) => ReadSlice

const readings = new Map<unknown, Reading>([
  ["content", content.reading],
  ["http-transport", transport.reading],
  ["content-server", contentServer.reading],
  ["dashboard", dashboard.reading],
  ["nats", () => nats.reading]
])

type State = Pick<GlobalState, "plugins" | "system">

const sayOf = (
  { plugins, system }: State,
  added: ReadonlyArray<Section>,
  now: number,
  rules: ContentRules
) => {
  const state = { plugins, system, _version: 0 }
  const context = {
    now,
    state,
    screens: screensOf(state, now),
    players: playersOf(state, now)
  }
  const own = Object.entries(plugins).flatMap(([name, slice]) => {
    const reading = Predicate.hasProperty(slice, "kind") ? readings.get(slice.kind) : undefined
    return reading === undefined ? [] : [[name, reading(name, rules)(slice, context)] as const]
  })
  const { mode, node, startTime } = system
  const header = {
    startTime,
    mode,
    uptimeMs: now - Date.parse(startTime),
    ...(node === undefined ? {} : { node })
  }
  return {
    ...context,
    header,
    readings: [
      ...own,
      ["players", players.reading(undefined, context)] as const,
      ["screens", { unwatched: unwatchedScreens(context) }] as const
    ],
    added
  }
}

/** `now` is in milliseconds since 1970. The problems have no `count`, and `since` only where it is said. */
export const readState = (
  state: State,
  added: ReadonlyArray<Section>,
  now: number,
  rules: ContentRules = { failingFor: "15 minutes" }
) => {
  const said = sayOf(state, added, now, rules)
  const { metrics, view } = makeView(said, nothingRemembered).reading
  return { ...view, problems: problemsIn(said), metrics }
}

/** The view of a controller that has just started. */
export const viewOf = (state: State, now: number) =>
  makeView(sayOf(state, [], now, { failingFor: "15 minutes" }), nothingRemembered).reading.view

/** Makes one view after the other, as a controller does. */
export const makeViews = (begin: Remembered) => {
  let remembered = begin
  return (state: State, now: number) => {
    const made = makeView(sayOf(state, [], now, { failingFor: "15 minutes" }), remembered)
    remembered = made.remembered
    return made.reading
  }
}
