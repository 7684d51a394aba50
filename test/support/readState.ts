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
import { gather } from "../../src/layers/status/gather.ts"
import * as machine from "../../src/layers/status/machineReading.ts"
import type { GlobalState, ReadSlice, Section } from "../../src/services/ControllerState.ts"

type Reading = (name: string, rules: ContentRules) => ReadSlice

const readings = new Map<unknown, Reading>([
  ["content", content.reading],
  ["http-transport", transport.reading],
  ["content-server", contentServer.reading],
  ["dashboard", dashboard.reading],
  ["nats", () => nats.reading]
])

/** `now` is in milliseconds since 1970. */
export const readState = (
  { plugins, system }: Pick<GlobalState, "plugins" | "system">,
  added: ReadonlyArray<Section>,
  now: number,
  rules: ContentRules = { failingFor: "15 minutes" }
) => {
  const context = { now, state: { plugins, system, _version: 0 } }
  const own = Object.entries(plugins).flatMap(([name, slice]) => {
    const reading = Predicate.hasProperty(slice, "kind") ? readings.get(slice.kind) : undefined
    return reading === undefined ? [] : [[name, reading(name, rules)(slice, context)] as const]
  })
  return gather(context.state, [...own, ["system", machine.reading(undefined, context)]], added, now)
}
