/**
 * Plugins of a test: their slices, live fields and reports are set one by one, and registered at the first use of a name.
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Scope from "effect/Scope"
import { reportOfProblems } from "../../src/layers/status/view.ts"
import type { ControllerState, MakeReport, RegisteredPlugin } from "../../src/services/ControllerState.ts"

type Service = typeof ControllerState.Service

interface Plugin {
  live: Effect.Effect<object, unknown>
  report: MakeReport
  update: RegisteredPlugin["update"]
}

const known = new WeakMap<Service, Map<string, Plugin>>()

/** The state, and what sets parts of plugins, which stay until the end. */
export const pluginsOf = (controller: Service) => {
  const plugins = known.get(controller) ?? new Map<string, Plugin>()
  known.set(controller, plugins)
  const pluginOf = (name: string) =>
    Effect.gen(function* () {
      const before = plugins.get(name)
      if (before !== undefined) return before
      const plugin: Plugin = {
        live: Effect.succeed({}),
        report: reportOfProblems(name),
        update: () => Effect.void
      }
      plugins.set(name, plugin)
      const { update } = yield* Scope.extend(
        controller.register({
          name,
          live: Effect.suspend(() => plugin.live),
          report: (slice, context) => plugin.report(slice, context)
        }),
        yield* Scope.make()
      )
      return Object.assign(plugin, { update })
    })
  return {
    ...controller,
    updateSlice: (name: string, f: (slice: unknown) => unknown) =>
      Effect.flatMap(pluginOf(name), ({ update }) => update(f)),
    addReport: (name: string, report: MakeReport) =>
      Effect.asVoid(Effect.map(pluginOf(name), (plugin) => Object.assign(plugin, { report }))),
    addMomentary: (name: string, live: Effect.Effect<object, unknown>) =>
      Effect.asVoid(Effect.map(pluginOf(name), (plugin) => Object.assign(plugin, { live })))
  }
}

/** The report of a content without problems. */
export const reportedContent: MakeReport = (slice) => ({
  content: {
    name: "content",
    ...(Predicate.hasProperty(slice, "versionId") && Predicate.isString(slice.versionId)
      ? { versionId: slice.versionId }
      : {})
  }
})
