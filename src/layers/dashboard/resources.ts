/**
 * What can be read from the dashboard, by its path.
 */
import * as Effect from "effect/Effect"
import * as Metric from "effect/Metric"
import { jsonText } from "../../internal/JsonText.ts"
import { ControllerState } from "../../services/ControllerState.ts"
import type { Health, HealthRules } from "../../services/Health.ts"
import { makeHealth } from "./overview.ts"
import { readPageFiles } from "./pageFiles.ts"
import { contentType, prometheusText } from "./prometheus.ts"

export interface Resource {
  readonly status: 200 | 503
  readonly contentType: string
  readonly body: string
}

export type Resources = ReadonlyMap<string, Effect.Effect<Resource>>

export const make = Effect.fnUntraced(function* (rules: HealthRules) {
  const { state, status } = yield* ControllerState
  const health = yield* makeHealth(rules)
  const { css, html, js } = yield* Effect.sync(readPageFiles)
  const resources: Resources = new Map([
    ["/", Effect.succeed(ok("text/html; charset=utf-8", html))],
    ["/dashboard.css", Effect.succeed(ok("text/css; charset=utf-8", css))],
    ["/dashboard.js", Effect.succeed(ok("text/javascript; charset=utf-8", js))],
    ["/healthz", Effect.map(health, healthResource)],
    ["/metrics", Effect.map(Metric.snapshot, (pairs) => ok(contentType, prometheusText(pairs)))],
    ["/state", Effect.map(state, (state) => ok(json, jsonText(state)))],
    ["/status", Effect.map(status, (status) => ok(json, jsonText(status)))]
  ])
  return resources
})

const json = "application/json"

const ok = (contentType: string, body: string): Resource => ({ status: 200, contentType, body })

const healthResource = ({ findings, isHealthy, word }: Health): Resource => ({
  status: isHealthy ? 200 : 503,
  contentType: json,
  body: `${JSON.stringify({ status: isHealthy ? "ok" : "failing", word, findings }, null, 2)}\n`
})
