/**
 * What a state means where its slices are those of Vitrine's own plugins.
 */
import * as Predicate from "effect/Predicate"
import * as contentServer from "../../src/layers/contentServer/pluginReport.ts"
import * as dashboard from "../../src/layers/dashboard/DashboardState.ts"
import type { ContentRules } from "../../src/layers/fetching/ContentOptions.ts"
import * as content from "../../src/layers/fetching/pluginReport.ts"
import * as transport from "../../src/layers/httpTransport/pluginReport.ts"
import * as nats from "../../src/layers/nats/pluginReport.ts"
import { judge } from "../../src/layers/screens/judge.ts"
import { nothingRemembered, type Remembered } from "../../src/layers/status/problems.ts"
import { viewOf as viewFrom } from "../../src/layers/status/view.ts"
import type { GlobalState, MakeReport } from "../../src/services/ControllerState.ts"
import type { ViewInput } from "../../src/services/PluginFacts.ts"

type PluginReport = (name: string, rules: ContentRules) => MakeReport

const reports = new Map<unknown, PluginReport>([
  ["content", content.pluginReport],
  ["http-transport", transport.pluginReport],
  ["content-server", contentServer.pluginReport],
  ["dashboard", dashboard.pluginReport],
  ["nats", () => nats.pluginReport]
])

type State = Pick<GlobalState, "plugins" | "system">

const inputOf = ({ plugins, system }: State, now: number, rules: ContentRules): ViewInput => ({
  now,
  system,
  uptimeMs: now - Date.parse(system.startTime),
  version: 0,
  plugins: Object.entries(plugins).map(([name, slice]) => {
    const report = Predicate.hasProperty(slice, "kind") ? reports.get(slice.kind) : undefined
    return { name, slice, report: report?.(name, rules) }
  })
})

const makeView = viewFrom(judge)

/** `now` is in milliseconds since 1970. The problems have no `count`, and no `since` if they began just now. */
export const readState = (state: State, now: number, rules: ContentRules = { failingFor: "15 minutes" }) => {
  const { metrics, view } = makeView(inputOf(state, now, rules), nothingRemembered).snapshot
  const found = new Date(now).toISOString()
  const problems = view.problems.map(({ count: _, since, ...problem }) => ({
    ...problem,
    ...(since === undefined || since === found ? {} : { since })
  }))
  return { ...view, problems, metrics }
}

/** The view of a controller that has just started. */
export const viewOf = (state: State, now: number) =>
  makeView(inputOf(state, now, { failingFor: "15 minutes" }), nothingRemembered).snapshot.view

/** Makes one view after the other, as a controller does. */
export const makeViews = (begin: Remembered) => {
  let remembered = begin
  return (state: State, now: number) => {
    const made = makeView(inputOf(state, now, { failingFor: "15 minutes" }), remembered)
    remembered = made.remembered
    return made.snapshot
  }
}
