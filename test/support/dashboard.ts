/**
 * The dashboard on a free port, over services in memory.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as DashboardLayer from "../../src/layers/dashboard/Dashboard.ts"
import { Dashboard, type DashboardConfig } from "../../src/layers/dashboard/Dashboard.ts"
import type { ContentRules } from "../../src/layers/fetching/ContentOptions.ts"
import { pluginReport } from "../../src/layers/fetching/pluginReport.ts"
import { ControllerState, type Mode } from "../../src/services/ControllerState.ts"
import { pluginsOf } from "./plugins.ts"
import * as rawHttp from "./rawHttp.ts"
import { memoryServices } from "./transport.ts"

export const layer = (options: DashboardConfig = {}, mode: Mode = "persistent") =>
  Layer.provideMerge(DashboardLayer.layer({ port: 0, ...options }), memoryServices(mode))

export const port = Effect.map(Dashboard, ({ address }) => Option.getOrThrow(address).port)

export const request = (request: rawHttp.Request) =>
  Effect.flatMap(port, (port) => rawHttp.request(port, request))

export const get = (target: string, headers: Readonly<Record<string, string>> = {}) =>
  request({ target, headers })

/** As its page sends it. */
export const act = (command: unknown, headers: Readonly<Record<string, string>> = {}) =>
  request({
    method: "POST",
    target: "/command",
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(command)
  })

/** Opens an event stream and waits until it has begun. */
export const openEvents = Effect.flatMap(port, rawHttp.connect).pipe(
  Effect.tap(({ received, send }) => {
    send(rawHttp.format({ target: "/events" }))
    return received.until((text) => text.includes("event: log\n"))
  })
)

/** Puts a slice into the state and says what it means, as the content plugin does. */
export const setContent = Effect.fnUntraced(function* (
  content: object,
  rules: ContentRules = { failingFor: "15 minutes" }
) {
  const { addReport, state, updateSlice } = pluginsOf(yield* ControllerState)
  const { plugins } = yield* state
  if (plugins.content === undefined) {
    yield* addReport("content", pluginReport("content", rules))
  }
  yield* updateSlice("content", () => ({ kind: "content", ...content }))
})
